from ragstone.analysis.ties import tied


def test_equal_values_are_counted_ascending():
    assert tied([0.5, 0.0, 0.5, 1.0]) == [(0.0, 1), (0.5, 2), (1.0, 1)]
    assert tied([]) == []


def test_rounding_noise_is_no_difference():
    assert [count for _, count in tied([0.3, 0.9 - 0.6, 0.1 + 0.2, 0.3 + 1e-11])] == [3, 1]
    assert tied([-0.0, 0.0]) == [(0.0, 2)]
