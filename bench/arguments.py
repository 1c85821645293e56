"""Arguments against public data: false rejects, coercions, refusals by name, broken JSON, the JSON Schema suite.

    python -m bench.arguments DATA

DATA holds `bfcl/`, `acebench_zh/` and `json_schema_suite/`. Prints what was counted beside its floor and ends with
exit code 1 when a floor is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, InvalidToolCall

from tools.arguments import check_arguments, check_call
from tools.declare import from_json_schema
from tools.dialects import compile_schema
from tools.reading import raw_calls, read_calls
from tools.spec import Arguments, ToolContext, ToolSpec
from tools.validate import Rejected, Validated, validate

Row = dict[str, Any]

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
MICROSECONDS_A_CALL = 300


@dataclass
class Measure:
    """A count of what went right, the number of cases, and the share that has to go right."""

    name: str
    floor: float = 1.0
    right: int = 0
    cases: int = 0
    failures: Counter[str] | None = None

    def add(self, right: bool, case: str) -> None:
        self.cases += 1
        self.right += right
        if not right:
            self.failures = self.failures or Counter()
            self.failures[case] += 1

    @property
    def passed(self) -> bool:
        return self.cases > 0 and self.right >= self.floor * self.cases

    def __str__(self) -> str:
        verdict = "ok" if self.passed else "MISSED"
        return f"{verdict:7}{self.name:78}{self.right:5} of {self.cases:5}   floor {self.floor:.0%}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    folder: Path = parser.parse_args().data
    measures = [
        *bfcl(folder / "bfcl"),
        *acebench(folder / "acebench_zh"),
        *schema_suite(folder / "json_schema_suite"),
    ]
    for measure in measures:
        print(measure)
        for case, times in (measure.failures or Counter()).most_common(5):
            print(f"         {times} x {case[:150]}")
    microseconds = time_a_call(folder / "bfcl")
    print(f"{microseconds:.0f} µs to validate a valid call (at most {MICROSECONDS_A_CALL})")
    return 0 if all(each.passed for each in measures) and microseconds <= MICROSECONDS_A_CALL else 1


def bfcl(folder: Path) -> Iterator[Measure]:
    calls = {row["id"]: row for row in rows(folder / "valid_calls.jsonl")}
    tools = {id: _tool(row["tool"], row["schema"]) for id, row in calls.items()}
    yield from _valid_calls(calls, tools)
    yield from _mutated_calls(rows(folder / "mutated_calls.jsonl"), calls, tools)
    yield from _malformed(rows(folder / "malformed_json.jsonl"), calls, tools)


def _valid_calls(calls: Mapping[str, Row], tools: Mapping[str, ToolSpec]) -> Iterator[Measure]:
    accepted = Measure("BFCL valid_calls: accepted unchanged")
    unlisted = Measure("BFCL valid_calls with an argument that the tool does not list: refused by name")
    for id, row in calls.items():
        checked = check_arguments(tools[id], row["args"])
        if unknown := row["args"].keys() - row["schema"]["properties"].keys():
            unlisted.add(_names(checked, *unknown), id)
        else:
            accepted.add(isinstance(checked, Validated) and checked.args == row["args"], id)
    yield accepted
    if unlisted.cases:
        yield unlisted


def _mutated_calls(
    mutations: Iterator[Row], calls: Mapping[str, Row], tools: Mapping[str, ToolSpec]
) -> Iterator[Measure]:
    coerced = Measure("BFCL coerce_to_valid: equal to the original")
    either = Measure("BFCL coerce_or_reject: equal to the original, or refused")
    refused = Measure("BFCL reject, reject_or_drop: refused")
    named = Measure("BFCL refusals that name the argument", floor=0.99)
    for row in mutations:
        checked = check_arguments(tools[row["id"]], row["args"])
        same = isinstance(checked, Validated) and checked.args == calls[row["id"]]["args"]
        case = f"{row['kind']} {row['id']} {row['note']}"
        if row["expect"] == "coerce_to_valid":
            coerced.add(same, case)
        elif row["expect"] == "coerce_or_reject":
            either.add(same or isinstance(checked, Rejected), case)
        else:
            refused.add(isinstance(checked, Rejected), case)
        if isinstance(checked, Rejected):
            argument = row["note"] or next(iter(row["args"].keys() - calls[row["id"]]["args"].keys()))
            named.add(_names(checked, argument), case)
    yield from (coerced, either, refused, named)


def _malformed(
    texts: Iterator[Row], calls: Mapping[str, Row], tools: Mapping[str, ToolSpec]
) -> Iterator[Measure]:
    measures = {
        "repair": Measure("BFCL malformed_json, repair: the right value, or reported"),
        "reject_or_ask": Measure("BFCL malformed_json, cut off: refused"),
        "reject_unless_no_required": Measure("BFCL malformed_json, empty: missing arguments named, or runs"),
        "reject_or_first": Measure("BFCL malformed_json, two objects: refused"),
    }
    repaired = Measure("BFCL malformed_json, repair: the right value", floor=0.9)
    for row in texts:
        checked = _check_text(tools[row["id"]], row["raw"])
        original = calls[row["id"]]
        same = isinstance(checked, Validated) and checked.args == original["args"]
        refused = isinstance(checked, Rejected)
        case = f"{row['kind']} {row['id']}"
        if row["expect"] == "repair":
            repaired.add(same, case)
            measures["repair"].add(same or refused, case)
        elif row["expect"] == "reject_unless_no_required":
            required = original["schema"].get("required", [])
            runs = isinstance(checked, Validated) and checked.args == {}
            measures[row["expect"]].add(_names(checked, *required) if required else runs, case)
        else:
            measures[row["expect"]].add(refused, case)
    yield from (*measures.values(), repaired)


def _check_text(spec: ToolSpec, text: str) -> Validated | Rejected:
    """The whole way of an argument text: into the thread, out of it, against the schema."""
    broken = InvalidToolCall(name=spec.name, args=text, id="1", error=None, type="invalid_tool_call")
    message = read_calls(AIMessage("", invalid_tool_calls=[broken]), ())
    return check_call(spec, raw_calls(message)[0])


def acebench(folder: Path) -> Iterator[Measure]:
    valid = Measure("ACEBench gt_schema_valid: accepted")
    for path in sorted(folder.glob("zh_normal_*.jsonl")):
        for row in rows(path):
            if row.get("gt_schema_valid"):
                tools = {tool["name"]: tool["parameters"] for tool in row["tools"]}
                for name, args in row["ground_truth"].items():
                    called = name if name in tools else name.rsplit("_", 1)[0]
                    checked = check_arguments(_tool(called, tools[called]), args)
                    valid.add(isinstance(checked, Validated), f"{row['id']} {checked}")
    yield valid
    yield _incomplete(rows(folder / "en_special_incomplete.jsonl"))
    yield _wrong_values(rows(folder / "en_special_error_param.jsonl"))


def _incomplete(questions: Iterator[Row]) -> Measure:
    """Names that the tool's schema does not require, at any level, are no missing required arguments."""
    missing = Measure("ACEBench special_incomplete: missing required argument reported by name")
    for row in questions:
        tools = {tool["name"]: tool["parameters"] for tool in row["tools"]}
        for name, absent in row["ground_truth"].items():
            schema = tools[name]
            checked = check_arguments(_tool(name, schema), _sample(schema, without=set(absent)))
            for argument in set(absent) & set(_required(schema)):
                reported = isinstance(checked, Rejected) and any(
                    problem.kind == "missing" and problem.path.split(".")[-1] == argument
                    for problem in checked.problems
                )
                missing.add(reported, f"{row['id']} {argument}")
    return missing


def _wrong_values(questions: Iterator[Row]) -> Measure:
    wrong = Measure("ACEBench special_error_param, schema_detectable: refused, argument named")
    for row in questions:
        if not row["schema_detectable"]:
            continue
        for argument, values in row["ground_truth"].items():
            tool = next(each for each in row["tools"] if argument in each["parameters"]["properties"])
            args = _sample(tool["parameters"], without=set()) | {argument: values[0]}
            checked = check_arguments(_tool(tool["name"], tool["parameters"]), args)
            wrong.add(_names(checked, argument), f"{row['id']} {argument}")
    return wrong


def schema_suite(folder: Path) -> Iterator[Measure]:
    for draft in ("draft7", "draft2020-12"):
        measure = Measure(f"JSON-Schema-Test-Suite {draft}")
        for row in rows(folder / f"{draft}.jsonl"):
            schema = row["schema"]
            if draft == "draft7" and isinstance(schema, dict):
                schema = {"$schema": DRAFT_7, **schema}
            validator = compile_schema(schema)
            for test in row["tests"]:
                case = f"{row['file']}: {row['description']}: {test['description']}"
                measure.add(validator.is_valid(test["data"]) == test["valid"], case)
        yield measure


def time_a_call(folder: Path) -> float:
    """Microseconds to validate a valid call and fill in its defaults, mean over all of them."""
    calls = [
        (_tool(row["tool"], row["schema"]).parameters, row["args"])
        for row in rows(folder / "valid_calls.jsonl")
    ]
    for schema, args in calls:
        validate(schema, args)
    started = time.perf_counter()
    for schema, args in calls * 3:
        validate(schema, args)
    return (time.perf_counter() - started) / len(calls) / 3 * 1e6


def rows(path: Path) -> Iterator[Row]:
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)


def _tool(name: str, schema: Mapping[str, Any]) -> ToolSpec:
    return from_json_schema(name, "A tool of the data set.", schema, _never_run)


async def _never_run(args: Arguments, context: ToolContext) -> None:
    raise NotImplementedError("the data set's tools have no body")


def _names(checked: Validated | Rejected, *arguments: str) -> bool:
    """Whether the call was refused, and each argument is named at its place."""
    if isinstance(checked, Validated):
        return False
    fields = {path.split(".")[0].split("[")[0] for path in checked.fields}
    return fields.issuperset(arguments)


def _required(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from schema.get("required", [])
        for inner in (*schema.get("properties", {}).values(), schema.get("items")):
            yield from _required(inner)


def _sample(schema: Mapping[str, Any], without: set[str]) -> Any:
    """Some value of the right type, every property given but those named."""
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {}).items()
            return {name: _sample(field, without) for name, field in fields if name not in without}
        case "array":
            return [_sample(schema.get("items", {}), without)]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case _:
            return "text"


if __name__ == "__main__":
    sys.exit(main())
