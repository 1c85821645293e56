"""Messages that lean on what was said before: back references, bare details, answers to the agent's question (R7)."""

from __future__ import annotations

import re

SHORT = 40
"""Characters: a longer message stands for itself."""
_ENDING = 80
"""Characters at the end of an answer that are looked at for a question."""

_DETAIL = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:[A-Za-z]{1,4}[-\s]?)?\+?\d[\d\s-]{3,}\d", re.IGNORECASE
)
_AROUND_DETAILS = re.compile(
    r"我的?|您?可以|打|联系|电话|手机|号码?|方式|邮箱|订单|单|运单|快递|是|为|[\W_]"
    r"|\b(?:my|the|you|can|call|reach|me|at|on|is|it's|its|phone|mobile|number|e-?mail|address|order|tracking|contact)\b",
    re.IGNORECASE,
)

_ENGLISH = re.compile(
    r"""(?:(?:and|also|so|ok|okay|then|but|well|oh|what|how)\b[\s,]*)*(?:about\s+|is\s+|was\s+)?
    (?: (?:the\s+|my\s+)?(?:other|first|second|third|last|next|previous|same|remaining)
        (?:\s+(?:ones?|two|orders?|items?|products?|tickets?|thing))?
      | (?:the\s+|an?\s+|that\s+|this\s+)?\w+\s+ones? | another | this | that | these | those | it | them
      | the\s+(?:rest|others) | both | \#
      | why(?:\s+(?:not|so|is\s+that))? | when | where | which\s+one
      | how\s+(?:long|come|so) | since\s+when | really
      | yes | yep | yeah | no | nope | sure | ok | okay | right | correct
      | please\s+do | go\s+ahead | do\s+it | not\s+yet
    )(?:\s+(?:too|then|please|instead|as\s+well))*[\s?!.,…]*""",
    re.IGNORECASE | re.VERBOSE,
)
_CHINESE = re.compile(
    r"""(?:那么|那|还有|另外|然后|嗯+|哦|所以|可是)?[\s,，]*
    (?: (?:我(?:的)?)?(?:另外?|那|这|剩下|其他|其它|其余|别|上|下|第[一二三四五六\d])(?:外?[一两二三几些])?
          (?:(?:个|单|件|款|只|张|台|双|条|箱|瓶|种|份|样)(?:订单|单子|东西)?|的)?
      | [一两几][个单件款] | 它们? | [\u4e00-\u9fff]{1,3}[的色](?:那[个款件])?(?=呢) | \#
      | 为什么 | 为啥 | 什么时候 | 啥时候 | 多久 | 要多久 | 几天 | 怎么办 | 真的 | 什么意思 | 哪[个里]
      | 好的? | 可以的? | 行 | 嗯+ | 是的? | 对的? | 不是 | 不用了?
      | 不要了? | 没有 | 有的? | 确认 | 同意 | 继续 | 没错 | 要的?
    )?\s*(?:怎么样了?|怎样了?|如何|也是|也一样|也要|呢|吗|啊|呀|吧|了|哦|哈)*[\s?？!！。,，…~]*""",
    re.VERBOSE,
)
_CONSENT = re.compile(
    r"(?:(?:yes|no|ok|okay|sure|fine|great|alright|please|好的?|可以|行|嗯+|是的?|对的?|不用了?|不要了?|没有|要|麻烦你?了?"
    r"|谢谢你?了?|thanks?(?: you)?|那)[\s,，.。!！~]*)+",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"\s*(?:and|what about|how about|then|so|ok|but)\b|\s*(?:那|然后|它|这个|另一|另外一)", re.IGNORECASE
)
_ASKING = re.compile(r"[?？]|请|麻烦您|\bplease\b|\blet me know\b", re.IGNORECASE)
_NEW_WISH = re.compile(
    r"[?？]|吗|呢|怎么|什么|如何|多少|哪|几|为何|我要|我想|想要|帮我|给我|能不能|可不可以|对了|先"
    r"|\b(?:what|where|how|which|who|why|when|can i|can you|could you|i want|i need|i'd like|cancel|by the way)\b",
    re.IGNORECASE,
)


def is_follow_up(text: str) -> bool:
    """A message that says nothing of its own: it only points back ("and the other one?"), agrees or declines."""
    if len(text) > SHORT:
        return False
    bare = _DETAIL.sub("#", text).strip()
    return (
        bool(bare) and bool(_ENGLISH.fullmatch(bare) or _CHINESE.fullmatch(bare)) and not only_details(text)
    )


def leans_back(text: str) -> bool:
    """A short message that begins as a follow-up does, and may be one ("那发票呢", "and for the blue mug?")."""
    return len(text) <= SHORT and bool(_LEADING.match(text)) and "对了" not in text


def only_details(text: str) -> bool:
    """Numbers and addresses with nothing said about them."""
    rest, found = _DETAIL.subn(" ", text)
    return found > 0 and not _AROUND_DETAILS.sub("", rest)


def asks(answer: str) -> bool:
    """Whether the agent's answer ends by asking for something."""
    return bool(_ASKING.search(answer[-_ENDING:]))


def answers_a_question(text: str, last_answer: str) -> bool:
    """A short message after the agent has asked for something, which raises nothing new: most likely the answer."""
    return len(text) <= SHORT and asks(last_answer) and not _NEW_WISH.search(text)


def consents(text: str, last_answer: str) -> bool:
    """Yes, no or thank you after the agent has asked."""
    return asks(last_answer) and bool(_CONSENT.fullmatch(text.strip()))
