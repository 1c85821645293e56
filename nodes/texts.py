"""Sentences that the agent says without a model, in the languages it serves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["zh", "en"]

_TEXTS: Mapping[str, Mapping[Language, str]] = {
    "model_unavailable": {
        "zh": "抱歉，我这边暂时无法处理您的请求。您的消息已经保存，请稍后再发一次，或告诉我需要转接人工客服。",
        "en": "Sorry, I cannot process your request just now. Your message is saved; please try again in a "
        "little while, or tell me if you would like a human colleague.",
    },
    "internal_fault": {
        "zh": "抱歉，处理您的请求时出了点问题。您的消息已经保存，请再试一次，或告诉我需要转接人工客服。",
        "en": "Sorry, something went wrong while I was working on your request. Your message is saved; please try "
        "again, or tell me if you would like a human colleague.",
    },
    "empty_answer": {
        "zh": "抱歉，我没能给出答复。请换一种说法再告诉我一次，或者让我为您转接人工客服。",
        "en": "Sorry, I could not come up with an answer. Please put it another way, or let me hand you over to a "
        "human colleague.",
    },
    "empty_message": {
        "zh": "我没有收到内容，请告诉我需要什么帮助。",
        "en": "I did not receive any text. What can I help you with?",
    },
    "not_text": {
        "zh": "抱歉，我目前只能阅读文字。请用文字描述您的问题。",
        "en": "Sorry, I can only read text at the moment. Please describe your question in words.",
    },
    "too_long": {
        "zh": "这条消息太长了，我无法处理。请缩短到 {limit} 个字符以内再发一次。",
        "en": "That message is too long for me. Please send it again in at most {limit} characters.",
    },
    "clarify": {
        "zh": "为了准确帮到您，请问您想咨询的是：{options}？回复序号或直接说明都可以。",
        "en": "Just to be sure I help with the right thing, is this about: {options}? "
        "A number or a few words will do.",
    },
    "best_guess": {
        "zh": "我先按“{label}”为您处理，如果理解有误请告诉我。",
        "en": "I will take this as a question about {label}; tell me if I got that wrong.",
    },
    "waiting_for_staff": {
        "zh": "您的申请已提交同事审批，审批后会继续为您处理。",
        "en": "A colleague has to approve this first; I will go on as soon as they have.",
    },
    "review_checking": {
        "zh": "正在核对答复内容",
        "en": "checking the answer",
    },
    "review_checking_again": {
        "zh": "正在复核修改后的答复",
        "en": "checking the answer once more",
    },
    "review_correcting": {
        "zh": "正在更正答复中的信息",
        "en": "correcting the answer",
    },
    "review_done": {
        "zh": "答复已核对完毕",
        "en": "the answer has been checked",
    },
    "out_of_budget": {
        "zh": "抱歉，您今天的使用额度已用完，请明天再来，或联系人工客服。",
        "en": "Sorry, today's allowance is used up. Please come back tomorrow or contact a human colleague.",
    },
}


def language_of(text: str, before: str | None = None) -> str:
    """`zh` where the text has Chinese characters, else `en`; without any word, the language spoken before."""
    if any("\u4e00" <= char <= "\u9fff" for char in text):
        return "zh"
    return "en" if before is None or any(char.isalpha() for char in text) else before


def say(name: str, locale: str, **values: object) -> str:
    """The sentence of that name in the locale's language.

    >>> say("empty_message", "en-GB")
    'I did not receive any text. What can I help you with?'
    """
    language: Language = "zh" if locale.startswith("zh") else "en"
    return _TEXTS[name][language].format(**values)
