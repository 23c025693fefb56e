"""Codes of errors that say what HTTP says elsewhere by its status."""

BASE_RESP = {
    code: status
    for status, codes in {
        400: (1026, 1027, 1042, 2013),
        401: (1004, 2049),
        402: (1008, 2056),
        429: (1002, 1039, 1041),
        500: (1000, 1013, 1024),
        503: (1033,),
        504: (1001,),
    }.items()
    for code in codes
}
"""What MiniMax's codes mean, which stand in `base_resp` under HTTP 200."""
GLM = {
    code: status
    for status, codes in {
        400: (1210, 1212, 1213, 1214, 1215, 1261, 1301),
        401: (1000, 1001, 1002, 1003, 1004),
        402: (1113,),
        403: (1220,),
        404: (1211,),
        429: (1302, 1303, 1304, 1305, 1308),
        500: (1234,),
        503: (1312,),
    }.items()
    for code in codes
}
"""What GLM's codes mean, which are texts of four digits in `error.code`."""
