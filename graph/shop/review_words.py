"""What a review of the shop's answers needs to know of its language: words for states, words of an answer."""

from __future__ import annotations

from collections.abc import Mapping

from nodes.business import StateWords

STATES: Mapping[str, StateWords] = {
    # orders and payments
    "pending_payment": StateWords(
        ("待付款", "待支付", "尚未付款", "未支付", "awaiting payment", "unpaid", "payment is pending")
    ),
    "unpaid": StateWords(("待付款", "待支付", "尚未付款", "未支付", "awaiting payment", "unpaid")),
    "paid": StateWords(("已付款", "已支付", "待发货", "payment received", "awaiting shipment")),
    "packing": StateWords(
        (
            "打包中",
            "正在打包",
            "备货中",
            "配货中",
            "待发货",
            "待揽收",
            "being packed",
            "being prepared",
            "awaiting shipment",
        ),
        implies=("paid",),
    ),
    "shipped": StateWords(
        ("已发货", "已出库", "shipped", "dispatched"),
        implies=("paid",),
    ),
    "delivered": StateWords(("已签收", "已送达", "已妥投", "delivered"), implies=("shipped",)),
    "completed": StateWords(
        (
            *("订单已完成", "交易已完成", "交易成功"),
            *("order … is completed", "order … was completed", "order … has been completed"),
        ),
        implies=("delivered", "shipped", "paid"),
    ),
    "cancelled": StateWords(("已取消", "cancelled", "canceled")),
    "refunding": StateWords(
        (
            "退款中",
            "正在退款",
            "处理中",
            "退款处理中",
            "being refunded",
            "refund is being processed",
            "refund is in progress",
        )
    ),
    "refunded": StateWords(
        (
            "已退款",
            "已退回",
            "已到账",
            "退款已完成",
            "been refunded",
            "was refunded",
            "were refunded",
            "have refunded",
            "refund … has been issued",
            "refund … was issued",
            "refund … has been paid",
            "refund … has been made",
            "refund … has been completed",
            "refund … has gone through",
        ),
        implies=("open", "approved", "settled"),
    ),
    # parcels
    "collected": StateWords(
        ("已揽收", "已揽件", "collected by the carrier", "picked up by the carrier"), implies=("shipped",)
    ),
    "in_transit": StateWords(
        ("运输中", "运输途中", "在途", "转运中", "in transit", "on its way", "on the way"),
        implies=("shipped",),
    ),
    "out_for_delivery": StateWords(
        (
            "派送中",
            "配送中",
            "派件中",
            "正在派送",
            "正在配送",
            "正在派件",
            "out for delivery",
            "on its way",
            "on the way",
        ),
        implies=("shipped",),
    ),
    "at_pickup_point": StateWords(
        (
            "待取件",
            "待自提",
            "驿站待取",
            "在驿站",
            "已到驿站",
            "ready for pickup",
            "ready for collection",
            "waiting at the pickup point",
            "is at the pickup point",
        ),
        implies=("shipped",),
    ),
    "returned": StateWords(("退回寄件人", "已退回商家", "returned to sender", "returned to the sender")),
    # tickets
    "open": StateWords(
        (
            "已受理",
            "处理中",
            "已创建售后",
            "已提交申请",
            "已提交退款申请",
            "已提交退货申请",
            "已提交换货申请",
            "已提交维修申请",
            "已提交售后",
            "opened a ticket",
            "created a ticket",
            "submitted your request",
            "submitted your return",
            "registered your return",
        )
    ),
    "awaiting_return": StateWords(
        (
            "待寄回",
            "等待寄回",
            "等待您寄回",
            "等您寄回",
            "awaiting return",
            "awaiting your return",
            "waiting for the goods",
            "waiting for your return",
        ),
        implies=("open", "approved"),
    ),
    "inspecting": StateWords(
        (
            "验收中",
            "验货中",
            "检测中",
            "质检中",
            "正在验收",
            "正在验货",
            "being inspected",
            "in inspection",
            "under inspection",
            "being checked",
        ),
        implies=("open", "approved"),
    ),
    "exchanged": StateWords(
        (
            "已换货",
            "换货已完成",
            "exchanged",
            "replacement … has been sent",
            "replacement … has been shipped",
        ),
        implies=("open", "approved", "settled"),
    ),
    "settled": StateWords(("售后已完成", "exchange … completed", "repair … completed")),
    "rejected": StateWords(
        (
            "已驳回",
            "已拒绝",
            "被驳回",
            "被拒绝",
            "审核未通过",
            "审批未通过",
            "rejected",
        ),
        implies=("open",),
    ),
    "approved": StateWords(("审核通过", "审批通过", "已批准", "已通过审核", "approved"), implies=("open",)),
    "closed": StateWords(("已关闭", "been closed", "was closed"), implies=("open",)),
    "waiting_for_staff_approval": StateWords(
        (
            "待审批",
            "待审核",
            "审批中",
            "审核中",
            "等待审批",
            "等待审核",
            "awaiting approval",
            "waiting for approval",
            "pending approval",
        ),
        implies=("open",),
    ),
}

REQUIRED: Mapping[str, tuple[str, ...]] = {"aftersale": ("aftersale_create.ticket_no",)}

ANSWER_WORDS: Mapping[str, tuple[str, ...]] = {
    "order": (
        *("订单", "地址", "取消", "付款", "发货", "签收", "派送", "送达"),
        *("order", "address", "cancel", "payment", "ship", "deliver", "dispatch", "on its way"),
    ),
    "logistics": (
        *("物流", "快递", "包裹", "运单", "派送", "配送", "送达", "送到", "签收", "发货", "运输", "驿站"),
        *("parcel", "package", "tracking", "courier", "carrier", "deliver", "ship", "transit", "arriv"),
    ),
    "aftersale": (
        *("退", "换", "修", "发票", "投诉", "售后", "保价", "差价", "赔", "补发", "工单"),
        *("refund", "return", "exchang", "replac", "repair", "warrant", "invoice", "complain", "ticket"),
        *("compensat", "appeal"),
    ),
    "consult": (
        *(
            "库存",
            "有货",
            "现货",
            "缺货",
            "无货",
            "补货",
            "价",
            "元",
            "规格",
            "尺",
            "材质",
            "推荐",
            "支付",
            "账",
        ),
        *("¥", "cny", "price", "cost", "stock", "available", "sold out", "recommend", "size", "material"),
        *("pay", "account", "newsletter"),
    ),
}
