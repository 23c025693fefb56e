"""Words by which applications say that key, app or quota are the trouble, in Chinese and English. A spec may add its own."""

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_HOLDER = r"(?:api|access|app|auth\w*|bearer)[ _-]?(?:key|token)"
_BAD = r"(?:invalid|not valid|expired|incorrect|not found|not exist|wrong|required|missing|revoked|disabled|error)"
_THING = (
    r"(?:app|application|chat|chat assistant|assistant|dialog|agent|workflow|workspace|dataset|knowledge ?base|bot|pipeline"
    r"|collection|model)"
)
_GONE = (
    r"(?:not exist|n't exist|not found|no such|unknown|unavailable|not available|no longer|not published|not been published"
    r"|disabled|deleted)"
)

KEY = _any(
    rf"(?:invalid|incorrect|missing|expired|wrong|bad|no|revoked|disabled)[ _-]?(?:valid )?{_HOLDER}",
    r"(?:incorrect|wrong|expired)[ _]key\b|\bkey is (?:error|wrong|invalid|incorrect)",
    r"(?:invalid|incorrect|wrong|missing|bad)[ _]credential",
    rf"{_HOLDER}\b[^.\n]{{0,40}}?\b{_BAD}|\btoken (?:is |has )?(?:invalid|expired|incorrect)",
    r"\bun_?auth(?:ori[sz]ed|ori[sz]ation|apikey|user|team)\b|not authori[sz]ed|invalid[ _]authentication|authenticationerror",
    r"authentication[ _](?:is |has )?(?:invalid|fail|error|required)|login required|not logged in",
    r"(?:key|密钥|秘钥|令牌|token|凭证|口令)\s*(?:已经?|是|为)?(?:不合法|无效|非法|错误|有误|不正确|不存在|已?过期|失效|被?禁用)",
    r"(?:无效|错误|非法|缺少|过期)的?\s*(?:api|access|app)?[ _-]?(?:key|密钥|秘钥|令牌|token|凭证)",
    r"未授权|未登录|请先登录|鉴权(?:失败|错误|未通过)|认证(?:失败|错误|信息)|身份(?:验证|认证)|(?:没有|无)(?:访问)?权限|无权",
)
APP = _any(
    r"not_(?:chat|completion|workflow)_app|app_unavailable|app_?un_?exist|un_?exist_?app|blocking mode",
    rf"\b{_THING}s?\b[^.\n]{{0,60}}?{_GONE}|(?:no such|unknown|invalid|not a valid) {_THING}\b",
    r"(?:don't|do not|doesn't|does not|not) own(?:ed)?\b",
    r"(?:应用|智能体|助手|工作流|知识库|数据集|工作空间|工作区|机器人|模型|接口|路径)[^。，,\n]{0,16}?"
    r"(?:不存在|未找到|找不到|未发布|没有发布|不可用|已删除|已禁用|已停用|已下线|不属于)",
)
QUOTA = _any(
    r"quota[ _-]?(?:is |has )?(?:been )?(?:exceed|exhaust|used)|exceed(?:ed|s)?[^.\n]{0,24}\bquota|payment required",
    r"insufficient[ _-]?(?:\w+[ _-]?)?(?:quota|balance|credit|points?)|(?:points?|credits?)[ _]?not[ _]?enough",
    r"(?:not enough|out of) (?:points|credits|balance)|欠费",
    r"(?:积分|点数|额度|配额|余额|次数|套餐)[^。，,\n]{0,10}?(?:不足|用完|用尽|耗尽|超出|超限|已达)",
)
RATE = _any(r"too[_ ]?many[_ ]?requests|too frequent|rate[_ -]?limit|请求(?:过于|太)?(?:频繁|过多)|限流|并发(?:数|量)?(?:超|过)")
BUSY = _any(r"overload|(?:server|system|service|model|engine) (?:is )?(?:too |currently )?busy|繁忙|过载|稍后(?:再|重)试")
"""Waiting helps."""
PASSING = _any(r"unavailable|not available|disabled|不可用")
"""Beside a server's own failure (5xx) these do not say that an app is gone for good."""
LOGIN = _any(r"log[ _-]?in|sign[ _-]?in|\bsso\b|\bcas\b|passport|oauth|/auth|登录|登陆")
"""A page, or the target of a redirect, where people log in."""
