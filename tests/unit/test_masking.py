"""Personal data and secrets are masked; what customers are served by is not."""

from __future__ import annotations

import random
import time
from datetime import date

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memory.clean import JsonValue
from memory.masking import find, mask, mask_data
from memory.personal_numbers import IDENTITY_CHECK, IDENTITY_WEIGHTS, is_bank_card, is_identity_card


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("我的手机号是13800138000，谢谢", "我的手机号是[phone …00]，谢谢"),
        ("请打138-0013-8001或138 0013 8002", "请打[phone …01]或[phone …02]"),
        ("收货人张三13912345678北京市", "收货人张三[phone …78]北京市"),
        ("联系+86 13800138000", "联系[phone …00]"),
        ("008613800138000", "[phone …00]"),
        ("１３８００１３８０００", "[phone …００]"),
        ("两个：13800138000-13900139000", "两个：[phone …00]-[phone …00]"),
        ("13800138000,13900139001，13700137002", "[phone …00],[phone …01]，[phone …02]"),
        ("Tel-13800138000", "Tel-[phone …00]"),
        ("call me at +1 (415) 555-2671 please", "call me at [phone …71] please"),
        ("+44 20 7946 0958", "[phone …58]"),
        ("reach me: (212) 456-7890", "reach me: [phone …90]"),
        ("my phone number is 4155552671", "my phone number is [phone …71]"),
        ("电话：62345678", "电话：[phone …78]"),
        ("座机010-62345678转1", "座机[phone …78]转1"),
        ("身份证11010519491231002X。", "身份证[id card]。"),
        ("身份证号：11010519491231002x", "身份证号：[id card]"),
        ("卡号6222021234567890128", "卡号[bank card …28]"),
        ("card 4111 1111 1111 1111, exp 12/27", "card [bank card …11], exp 12/27"),
        ("amex 3782 822463 10005", "amex [bank card …05]"),
        ("邮箱zhang.san@example.com谢谢", "邮箱[email]谢谢"),
        ("发到13800138000@qq.com吧", "发到[email]吧"),
        ("订单 ABC-20240520-001，电话13800138000", "订单 ABC-20240520-001，电话[phone …00]"),
        ("Error: token=sk-abcdef123456", "Error: token=[secret]"),
        ("key sk-proj-abc_DEF-123456 leaked", "key [secret] leaked"),
        ("Authorization: Bearer abc.def-123456", "Authorization: Bearer [secret]"),
        ("postgresql://bob:p@ss:word@db:5432/x", "postgresql://bob:[secret]@db:5432/x"),
        ('{"api_key": "a1b2c3d4", "x": 1}', '{"api_key": "[secret]", "x": 1}'),
        ("密码：hunter22，别告诉别人", "密码：[secret]，别告诉别人"),
        ("https://x.org/?access_token=abcd1234&page=2", "https://x.org/?access_token=[secret]&page=2"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_1", "[secret]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[secret]"),
    ],
)
def test_what_is_personal_is_masked(text: str, masked: str) -> None:
    assert mask(text) == masked
    assert mask(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "订单 ABC-20240520-001 到哪里了",
        "物流单号 SF1234567890",
        "SF13800138000",
        "JD-13800138000 和 YT13800138000123",
        "运单号13800138000",
        "快递单号：13812345678、13912345678",
        "tracking number is 13812345678",
        "order #13812345678",
        "Orders 13812345678 and 13912345678",
        "ORD_13800138000",
        "13800138000-A1",
        "订单号 110105194912310021",
        "单号 4111111111111111",
        "2024-05-20 12:30:00, 1716179400000",
        "550e8400-e29b-41d4-a716-446655440000",
        "一共 1380013.80 元，编号 00123",
        "圆周率 3.13800138000",
        "max_tokens=600, token_estimate: 1200, tokens: 12345",
        "客服热线 400-123-4567",
        "the basic plan, the token is 12",
        "@某人 hello@ 价格@100",
        "手机IMEI号码是357159852456789",
        "指示密码是否经过加密，密码：请联系客服",
        "退款 299.00 元，预计 3-5 天",
        "version 18.4.0.1234",
    ],
)
def test_what_customers_are_served_by_stays(text: str) -> None:
    assert mask(text) == text


DIGITS = st.text("0123456789", min_size=11, max_size=20)


@given(
    number=DIGITS,
    words=st.sampled_from(["快递单号", "运单号：", "订单 ", "tracking number: ", "order no. ", "单号是"]),
)
def test_a_number_that_is_called_an_orders_or_parcels_is_never_masked(number: str, words: str) -> None:
    assert mask(f"请查{words}{number}，谢谢") == f"请查{words}{number}，谢谢"


@given(
    letters=st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=2, max_size=4),
    number=DIGITS,
    dash=st.sampled_from(["", "-"]),
)
def test_a_code_with_letters_is_never_masked(letters: str, number: str, dash: str) -> None:
    assume(letters not in {"TEL", "MOB", "FAX", "SK", "PK", "RK", "AKIA", "ASIA", "LTAI", "CELL", "PWD"})
    assert mask(f"看看{letters}{dash}{number}吧") == f"看看{letters}{dash}{number}吧"


@given(
    st.integers(min_value=10**11, max_value=10**14 - 1) | st.integers(min_value=10**19, max_value=10**20 - 1)
)
def test_bare_numbers_of_parcels_that_no_phone_or_card_has_the_length_of_stay(number: int) -> None:
    assume(not str(number).startswith(("86", "0")))
    assert mask(f"{number} 到了吗") == f"{number} 到了吗"


AROUND = st.sampled_from(["", "是", "，", " ", "我的", "号码", "（", "\n", "。", "、"])


@given(prefix=st.integers(130, 199), rest=st.integers(0, 10**8 - 1), left=AROUND, right=AROUND)
def test_a_mobile_is_found_whatever_stands_beside_it(prefix: int, rest: int, left: str, right: str) -> None:
    number = f"{prefix}{rest:08}"
    assert number not in mask(f"{left}{number}{right}")


@given(
    region=st.integers(110000, 659999),
    born=st.dates(date(1920, 1, 1), date(2020, 12, 31)),
    order=st.integers(0, 999),
)
def test_an_identity_card_is_found_by_date_and_check_digit(region: int, born: date, order: int) -> None:
    stem = f"{region}{born:%Y%m%d}{order:03}"
    check = IDENTITY_CHECK[sum(int(d) * w for d, w in zip(stem, IDENTITY_WEIGHTS, strict=True)) % 11]
    assert [finding.kind for finding in find(f"身份证{stem}{check}的")] == ["id card"]
    wrong = "0" if check != "0" else "1"
    assert not is_identity_card(stem + wrong)


@pytest.mark.parametrize(
    "number", ["6222021234567890128", "4111111111111111", "5555555555554444", "378282246310005"]
)
def test_one_wrong_digit_makes_no_card(number: str) -> None:
    assert is_bank_card(number)
    assert not is_bank_card(number[:-1] + str((int(number[-1]) + 1) % 10))


PIECES = [
    "13800138000", "+86 ", "6222021234567890128", "11010519491231002X", "a@b.cn", "sk-abcdef12", "token=", "密码：",
    "单号", "订单", "电话", " ", "-", "，", "and ", "://a:", "@", "Bearer ", "010-62345678", "12", "x", "[", "]", "1",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=100))
@example("密码：密码：密码：")
@example("a@b.c@d.ee 13800138000@qq.com")
def test_masking_twice_changes_nothing(text: str) -> None:
    assert mask(mask(text)) == mask(text)


@given(st.text("0123456789 -+()@.ab，手机单号:=token", max_size=80))
def test_findings_are_ordered_and_never_overlap(text: str) -> None:
    end = 0
    for finding in find(text):
        assert end <= finding.start < finding.end <= len(text)
        end = finding.end


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "1" * 1_000_000,
        "a@" * 500_000,
        "1-" * 500_000,
        "://a:" * 200_000,
        "password=" * 100_000,
        "订单 " * 300_000,
        "x-1_" * 250_000,
        " 138" * 250_000,
        "eyJ" * 300_000,
    ],
)
def test_a_megabyte_of_anything_is_searched_in_seconds(text: str) -> None:
    started = time.perf_counter()
    mask(text)
    assert time.perf_counter() - started < 4


def test_the_name_of_a_field_says_what_its_value_is() -> None:
    data: JsonValue = {
        "order_id": "ABC-20240520-001",
        "tracking_no": "13812345678",
        "items": [{"sku": 13812345678, "price": "12.50", "count": 2}],
        "phone": "62345678",
        "mobile": 13800138000,
        "receiver": {"name": "张三", "note": "打13800138000"},
        "id_card": "123",
        "password": "short",
        "access_token": "x",
        "prompt_tokens": 13_000,
        "contact": {"email": "a@b.cn"},
        "ok": True,
        "none": None,
    }
    assert mask_data(data) == {
        "order_id": "ABC-20240520-001",
        "tracking_no": "13812345678",
        "items": [{"sku": 13812345678, "price": "12.50", "count": 2}],
        "phone": "[phone …78]",
        "mobile": "[phone …00]",
        "receiver": {"name": "张三", "note": "打[phone …00]"},
        "id_card": "[id card]",
        "password": "[secret]",
        "access_token": "[secret]",
        "prompt_tokens": 13_000,
        "contact": {"email": "[email]"},
        "ok": True,
        "none": None,
    }


def test_few_random_numbers_of_sixteen_to_nineteen_digits_pass_for_cards() -> None:
    dice = random.Random(7)
    numbers = [str(dice.randrange(10**15, 10**19)) for _ in range(2000)]
    assert sum(mask(number) != number for number in numbers) < 60


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("卡号6222 0202 0000 1234 567", "卡号[bank card …67]"),
        ("my card number is 4111-1111-1111-1112", "my card number is [bank card …12]"),
        ("身份证号是110105194912310021", "身份证号是[id card]"),
    ],
)
def test_what_is_called_a_card_is_masked_also_where_a_digit_is_wrong(text: str, masked: str) -> None:
    assert mask(text) == masked
