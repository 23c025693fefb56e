"""Two gold sets in which nothing is wrong, and rows to plant into them, one a kind."""

from typing import Any

CLEAN: dict[str, list[tuple[str, str]]] = {
    "zh": [
        ("员工每年有多少天带薪假？", "满一年 6 天，满八年 9 天。"),
        ("差旅住宿每晚最高报多少？", "一线城市 480 元，其他城市 360 元。"),
        ("谁审批三万元以上的采购？", "由分管采购的副总审批。"),
        ("实验室的废液倒在哪里？", "倒入贴有红色标签的废液桶，不得倒进水槽。"),
        ("客户退货多久能收到退款？", "验货通过后 4 个工作日内原路退回。"),
        ("怎么申请机房门禁？", "在工单系统选择“机房准入”，由机房主管开通。"),
        ("冷库停电后先做什么？", "先关紧库门，再启动备用发电机。"),
        ("食堂晚餐几点结束？", "晚上七点四十分。"),
        ("试用期内可以请婚假吗？", "可以，天数与正式员工相同。"),
        ("叉车的最高时速是多少？", "厂区内每小时 8 公里，库内每小时 5 公里。"),
        ("如何更换密封圈？", "先泄压，再松开四颗螺栓取出旧圈。"),
        ("为什么发票会被退回？", "多半是税号与抬头不一致。"),
        ("哪些岗位需要体检？", "接触粉尘、噪声和化学品的岗位。"),
        ("班车从哪里发车？", "从东门岗亭旁发车。"),
        ("合同归档要几份？", "一式三份，法务、财务、业务各留一份。"),
        ("网络故障报给谁？", "拨内线 6021 找信息中心值班员。"),
        ("样品可以保存多久？", "在零下十八度下可存 90 天。"),
        ("新供应商要交哪些证照？", "营业执照、开户许可证和近一年的审计报告。"),
        ("夜班补贴怎么发？", "按班次计，每班 45 元，随当月工资发放。"),
        ("安全帽多长时间更换一次？", "每 30 个月更换，受过撞击的立即更换。"),
        ("会议室的投影坏了怎么办？", "扫桌角的二维码报修。"),
        ("哪一天发工资？", "每月 12 日，遇周末提前。"),
        ("产品说明书有英文版吗？", "有，可在官网的下载中心取得。"),
        ("培训缺席会怎样？", "须在下一期补训，两次缺席通报部门。"),
        ("仓库盘点由谁主持？", "由仓储经理主持，财务派人监盘。"),
        ("车辆保险何时续保？", "在到期前 20 天内办理。"),
        ("外来人员能进车间吗？", "须有接待人陪同并穿反光背心。"),
        ("打印机墨盒去哪里领？", "到行政前台登记领取。"),
        ("质检不合格的批次怎么处理？", "贴黄牌隔离，48 小时内由质量部作出处置。"),
        ("奖学金的评选条件是什么？", "绩点在 3.6 以上，且无处分记录。"),
        ("设备漏油时要通知哪个班组？", "通知机修班，同时放置吸油棉。"),
    ],
    "en": [
        ("How many days of paid leave does an employee get?", "Six days after one year, nine days after eight years."),
        ("What may a hotel cost on a business trip?", "Up to 140 euros a night in capitals and 105 elsewhere."),
        ("Who approves purchases above 30,000 euros?", "The director of procurement approves them."),
        ("Where does chemical waste go in the lab?", "Into the drum with the red label, never into the sink."),
        ("How soon is a customer refunded after a return?", "Within four business days of the goods passing inspection."),
        ("How do I get access to the server room?", "Open a ticket of type 'room access'; the room manager grants it."),
        ("What comes first when the cold store loses power?", "Shut the doors tightly, then start the spare generator."),
        ("When does dinner end in the canteen?", "At 19:40."),
        ("Can I take marriage leave while on probation?", "Yes, for as many days as permanent employees."),
        ("How fast may a forklift go?", "8 km an hour on the yard and 5 indoors."),
        ("How is a gasket replaced?", "Release the pressure, then undo the four bolts and take the old one out."),
        ("Why are invoices sent back?", "Mostly because tax number and company name do not match."),
        ("Which jobs need a health check?", "Those exposed to dust, noise or chemicals."),
        ("Where does the shuttle leave from?", "From the guard house at the east gate."),
        ("How many copies of a contract are filed?", "Three: one each for legal, finance and the business unit."),
        ("Who is told about a network outage?", "The duty officer of the information centre, extension 6021."),
        ("How long can samples be kept?", "For 90 days at minus eighteen degrees."),
        ("What must a new supplier hand in?", "The business licence, bank details and last year's audit report."),
        ("How is the night allowance paid?", "By shift, 12 euros each, with the salary of the month."),
        ("How often are helmets exchanged?", "Every 30 months, and at once after an impact."),
        ("What do I do about a broken projector?", "Scan the code on the corner of the table."),
        ("On which day are salaries paid?", "On the 12th, or earlier if that is a weekend."),
        ("Is there a German edition of the manual?", "Yes, in the download section of the website."),
        ("What follows if I miss a training?", "You make it up next time; after two absences the department is told."),
        ("Who leads the stock count?", "The warehouse manager, watched by somebody from finance."),
        ("When is the car insurance renewed?", "In the 20 days before it ends."),
        ("May visitors enter the workshop?", "Only with their host and in a high-visibility vest."),
        ("Where do I fetch toner?", "At the front desk, against a signature."),
        ("What happens to a batch that fails inspection?", "It is tagged yellow and quality decides within 48 hours."),
        ("What does a scholarship require?", "A grade average of 3.6 and a clean record."),
        ("Which crew is called when a machine leaks oil?", "The maintenance crew; put down absorbent mats meanwhile."),
    ],
}
"""Language -> (question, reference)."""

_ZH_PASSAGE = ["《热处理规程》第 6 条：炉温降到 60 度以下方可开门取件，取件时须戴隔热手套，并由两人配合完成。"]
_EN_PASSAGE = [
    "Heat treatment rules, section 6: the door may be opened below 60 degrees only, with gloves on, and by two people working together."
]

PLANTS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "zh": {
        "missing_question": [{"question": "？？", "reference": "三楼东侧。"}],
        "duplicate_question": [{"question": "班车从哪里发车", "reference": "从东门岗亭旁发车。"}],
        "near_duplicate": [{"question": "应该如何更换密封圈呢？", "reference": "泄压之后松开四颗螺栓，把旧圈取出来。"}],
        "contradiction": [{"question": "请问哪一天发工资？", "reference": "每月 15 日发放。"}],
        "giveaway": [{"question": "负责档案室钥匙的行政专员是什么岗位？", "reference": "行政专员。"}],
        "directive_reference": [{"question": "厂医室的电话是多少？", "reference": "应先问清是哪个厂区，不得自行编造号码。"}],
        "unsupported_point": [
            {
                "question": "何时可以开炉门？",
                "reference": "炉温低于 60 度才能开门。炉门钥匙锁在值班长的铁柜，编号 7735。",
                "reference_contexts": _ZH_PASSAGE,
            }
        ],
        "unlinked_variants": [
            {"id": "boiler-v1", "question": "锅炉的水位低了怎么办？", "reference": "立即停炉，缓慢补水到中线。"},
            {"id": "boiler-v2", "question": "锅炉缺水该如何应对？", "reference": "立即停炉，缓慢补水到中线。"},
        ],
    },
    "en": {
        "missing_question": [{"question": "??", "reference": "On the third floor."}],
        "duplicate_question": [{"question": "where does the shuttle leave from", "reference": "From the guard house at the east gate."}],
        "near_duplicate": [
            {"question": "What is the way to replace a gasket?", "reference": "Undo the four bolts after releasing the pressure."}
        ],
        "contradiction": [{"question": "How soon after a return is a customer refunded?", "reference": "Within nine business days."}],
        "giveaway": [{"question": "Which post is held by the archive clerk with the keys?", "reference": "The archive clerk."}],
        "directive_reference": [
            {
                "question": "What is the number of the site doctor?",
                "reference": "Should ask which site is meant, and must not invent a number.",
            }
        ],
        "unsupported_point": [
            {
                "question": "When may the furnace be opened?",
                "reference": "Below 60 degrees. The key hangs in the foreman's steel locker, number 7735.",
                "reference_contexts": _EN_PASSAGE,
            }
        ],
        "unlinked_variants": [
            {
                "id": "boiler-v1",
                "question": "What do I do when the boiler is low on water?",
                "reference": "Shut it down and refill slowly.",
            },
            {"id": "boiler-v2", "question": "The boiler lacks water, what now?", "reference": "Shut it down and refill slowly."},
        ],
    },
}
"""Language -> kind -> the rows to add."""


def clean(lang: str) -> list[dict[str, Any]]:
    """Return a set in which there is neither error nor warning, but that more rows would show smaller differences."""
    return [{"id": f"{lang}-{i:02}", "question": question, "reference": reference} for i, (question, reference) in enumerate(CLEAN[lang])]


def planted(lang: str, kind: str) -> list[dict[str, Any]]:
    """Return the clean set with one thing wrong."""
    return [*clean(lang), *({"id": f"planted-{i}"} | row for i, row in enumerate(PLANTS[lang][kind]))]
