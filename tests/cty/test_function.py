"""Functions as data: what becomes of null, unknown, dynamic and marked arguments."""

import pickle

import pytest

from nigari.cty.errors import CtyError
from nigari.cty.function import (
    NOT_NULL_RESULT,
    Function,
    FunctionError,
    Parameter,
    find_causes,
)
from nigari.cty.refinements import Refinement, refine, refine_not_null
from nigari.cty.types import DYNAMIC, NUMBER, STRING, ListType, Type
from nigari.cty.values import (
    DYNAMIC_NULL,
    DYNAMIC_UNKNOWN,
    Value,
    list_value,
    null,
    number,
    object_value,
    string,
    tuple_value,
    unknown,
)

SEEN: list[list[Value]] = []


def _describe(args: list[Value], _: Type) -> Value:
    SEEN.append(args)
    return string(f"{len(args)} arguments")


def describing(
    *parameters: Parameter, variadic: Parameter | None = None, refined: bool = False
) -> Function:
    SEEN.clear()
    return Function(parameters, variadic, STRING, _describe, NOT_NULL_RESULT if refined else None)


def test_a_known_argument_is_passed() -> None:
    assert describing(Parameter("a", STRING)).call([string("x")]) == string("1 arguments")
    assert [[string("x")]] == SEEN


@pytest.mark.parametrize("count", [0, 2])
def test_wrong_number_of_arguments(count: int) -> None:
    with pytest.raises(FunctionError) as caught:
        describing(Parameter("a", STRING)).call([string("x")] * count)
    assert caught.value.argument is None


def test_variadic_arguments() -> None:
    function = describing(Parameter("a", STRING), variadic=Parameter("rest", NUMBER))
    assert function.call([string("x")]) == string("1 arguments")
    assert function.call([string("x"), number(1), number(2)]) == string("3 arguments")
    with pytest.raises(FunctionError) as caught:
        function.call([string("x"), number(1), string("y")])
    assert caught.value.argument == 2
    with pytest.raises(FunctionError):
        function.call([])


def test_an_argument_of_the_wrong_type() -> None:
    with pytest.raises(FunctionError) as caught:
        describing(Parameter("a", STRING), Parameter("b", ListType(NUMBER))).call(
            [string("x"), list_value(STRING, [])]
        )
    assert caught.value.argument == 1
    assert len(caught.value.path) == 1


def test_null_arguments() -> None:
    with pytest.raises(FunctionError) as caught:
        describing(Parameter("a", STRING)).call([null(STRING)])
    assert caught.value.argument == 0
    lenient = describing(Parameter("a", STRING, allow_null=True))
    assert lenient.call([null(STRING)]) == string("1 arguments")


def test_unknown_arguments() -> None:
    assert describing(Parameter("a", STRING)).call([unknown(STRING)]) == unknown(STRING)
    assert SEEN == []
    refined = describing(Parameter("a", STRING), refined=True)
    assert refined.call([unknown(STRING)]) == refine_not_null(unknown(STRING))
    lenient = describing(Parameter("a", STRING, allow_unknown=True))
    assert lenient.call([unknown(STRING)]) == string("1 arguments")


def test_arguments_of_unknown_type() -> None:
    strict = describing(Parameter("a", STRING), refined=True)
    assert strict.call([DYNAMIC_UNKNOWN]) == DYNAMIC_UNKNOWN
    assert strict.return_type_for([DYNAMIC_UNKNOWN]) == DYNAMIC
    lenient = describing(Parameter("a", STRING, allow_dynamic=True))
    assert lenient.call([DYNAMIC_UNKNOWN]) == unknown(STRING)
    nullable = describing(Parameter("a", DYNAMIC, allow_null=True, allow_dynamic=True))
    assert nullable.call([DYNAMIC_NULL]) == string("1 arguments")


def test_marks_are_taken_off_and_put_on_the_result() -> None:
    function = describing(Parameter("a", DYNAMIC), Parameter("b", STRING))
    marked = tuple_value([string("x").mark("deep")]).mark("top")
    got = function.call([marked, string("y").mark("other")])
    assert got == string("2 arguments").mark("deep", "top", "other")
    assert [[tuple_value([string("x")]), string("y")]] == SEEN
    assert function.call([marked, unknown(STRING)]) == unknown(STRING).mark("deep", "top")
    assert function.call([DYNAMIC_UNKNOWN.mark("m"), string("y")]) == DYNAMIC_UNKNOWN.mark("m")


def test_marks_are_passed_where_wanted() -> None:
    function = describing(Parameter("a", STRING, allow_marked=True))
    assert function.call([string("x").mark("m")]) == string("1 arguments")
    assert [[string("x").mark("m")]] == SEEN


def _type_of_first(args: list[Value]) -> Type:
    if args[0].type == NUMBER:
        raise CtyError("numbers are not wanted")
    return args[0].type


def _first(args: list[Value], _: Type) -> Value:
    if args[0] == string("bad"):
        raise CtyError("bad is bad")
    return args[0]


FIRST = Function((Parameter("a", DYNAMIC),), None, _type_of_first, _first)


def test_result_type_from_the_arguments() -> None:
    assert FIRST.return_type_for([unknown(ListType(STRING))]) == ListType(STRING)
    assert FIRST.call([unknown(ListType(STRING))]) == unknown(ListType(STRING))


def test_every_failure_is_a_function_error() -> None:
    for argument in (string("bad"), number(1)):
        with pytest.raises(FunctionError) as caught:
            FIRST.call([argument])
        assert caught.value.argument is None
    again = pickle.loads(pickle.dumps(FunctionError("message", 3)))
    assert (again.message, again.argument, again.path) == ("message", 3, ())


def test_an_implementation_must_keep_its_promise() -> None:
    wrong = Function((Parameter("a", STRING),), None, NUMBER, _first)
    with pytest.raises(AssertionError):
        wrong.call([string("x")])


def test_refinement_of_results() -> None:
    function = Function(
        (Parameter("a", STRING),), None, STRING, _first, Refinement(not_null=True, prefix="x-")
    )
    wanted = refine(unknown(STRING), Refinement(not_null=True, prefix="x-"))
    assert function.call([unknown(STRING)]) == wanted


def test_an_unknown_result_tells_why() -> None:
    function = describing(Parameter("a", STRING), Parameter("b", STRING))
    one, two = unknown(STRING).with_causes(("one",)), unknown(STRING).with_causes(("two",))
    assert function.call([one, two]).causes == ("one", "two")
    assert function.call([DYNAMIC_UNKNOWN.with_causes(("type",)), two]).causes == ("type", "two")


def _unknown_result(_args: list[Value], expected: Type) -> Value:
    return unknown(expected)


def test_causes_are_found_inside_of_arguments() -> None:
    function = Function((Parameter("a", DYNAMIC),), None, STRING, _unknown_result)
    inner = unknown(STRING).with_causes(("inner",))
    assert function.call([object_value({"a": tuple_value([inner])})]).causes == ("inner",)


def test_few_causes_are_kept_and_not_everything_is_searched() -> None:
    many = list_value(STRING, [unknown(STRING).with_causes((i,)) for i in range(10_000)])
    assert find_causes([many]) == (0, 1, 2, 3)
    one_cause = list_value(STRING, [unknown(STRING).with_causes(("x",))] * 10_000)
    assert find_causes([one_cause]) == ("x",)
