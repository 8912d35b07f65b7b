"""Calls a Cairn server as a third-party client: with stubs made from proto/ by grpcio's own compiler.

    python3 grpcio_client.py HOST:PORT PROTO_FOLDER

Ends with 0 and the word "ok" when everything came back as it should.
"""

import math
import pathlib
import struct
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_tools import protoc

VALUES = [math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, -5e-324, 1.7976931348623157e308, 0.1]
STEPS = [-(2**53), 2**53, 0, 1, 2, 3, 4, 5, 6]
INTEGERS = [2**63 - 1, -(2**63), 2**53 + 1, 0]
TEXTS = ["", "snow \u2603", "\x00\n", "\U0001d4b3"]


def make_stubs(protos, folder):
    files = sorted(str(path) for path in pathlib.Path(protos, "cairn", "v1").glob("*.proto"))
    arguments = ["protoc", f"-I{protos}", f"--python_out={folder}", f"--grpc_python_out={folder}", *files]
    # The compiler brings google/protobuf/descriptor.proto along.
    bundled = pathlib.Path(protoc.__file__).parent / "_proto"
    assert protoc.main([*arguments[:2], f"-I{bundled}", *arguments[2:]]) == 0
    sys.path.insert(0, folder)


def refused(code, call, request):
    try:
        call(request)
    except grpc.RpcError as error:
        assert error.code() == code, (error.code(), error.details())
        return error
    raise AssertionError(f"{request} was not refused")


def detail_of(error, detail_type):
    """The ErrorDetail in google.rpc.Status, whose description grpcio does not bring."""
    file = descriptor_pb2.FileDescriptorProto(name="status.proto", package="google.rpc", syntax="proto3")
    status = file.message_type.add(name="Status")
    status.field.add(name="code", number=1, type=5, label=1)
    status.field.add(name="message", number=2, type=9, label=1)
    any_type = status.nested_type.add(name="Any")
    any_type.field.add(name="type_url", number=1, type=9, label=1)
    any_type.field.add(name="value", number=2, type=12, label=1)
    status.field.add(name="details", number=3, type=11, label=3, type_name=".google.rpc.Status.Any")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    status_type = message_factory.GetMessageClass(pool.FindMessageTypeByName("google.rpc.Status"))
    packed = dict(error.trailing_metadata())["grpc-status-details-bin"]
    (one,) = status_type.FromString(packed).details
    assert one.type_url.endswith("/cairn.v1.ErrorDetail"), one.type_url
    return detail_type.FromString(one.value)


def check_writing(channel):
    from cairn.v1 import error_pb2, metric_pb2, metric_pb2_grpc, run_pb2, run_pb2_grpc, system_pb2, system_pb2_grpc

    runs = run_pb2_grpc.RunServiceStub(channel)
    metrics = metric_pb2_grpc.MetricServiceStub(channel)
    system = system_pb2_grpc.SystemServiceStub(channel)

    wanted = run_pb2.CreateRunRequest(
        namespace="e2e/grpcio", name="first", aliases=["job-1"], params={"lr": "0.001"}, get_or_create=True
    )
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: runs.CreateRun(wanted), range(32)))
    assert len({answer.run.id for answer in answers}) == 1
    assert sum(answer.created for answer in answers) == 1
    run = run_pb2.RunRef(id=answers[0].run.id)

    envelope = metric_pb2.Envelope(
        run=run,
        writer="grpcio",
        seq=1,
        series=[
            metric_pb2.SeriesPoints(key="loss", labels={"rank": "3"}, steps=STEPS, times_us=STEPS, values=VALUES),
            metric_pb2.SeriesPoints(key="count", kind=metric_pb2.SERIES_KIND_INTEGER, integers=INTEGERS),
            metric_pb2.SeriesPoints(key="flag", kind=metric_pb2.SERIES_KIND_BOOL, bools=[True, False]),
            metric_pb2.SeriesPoints(key="note", kind=metric_pb2.SERIES_KIND_TEXT, texts=TEXTS),
        ],
        params={"optim": '{"name": "adam", "betas": [0.9, 0.999]}'},
        tags={"team": "asr"},
    )
    ack = metrics.WriteEnvelope(envelope)
    assert (ack.seq, ack.duplicate, ack.points) == (1, False, 19), ack
    again = metrics.WriteEnvelope(envelope, compression=grpc.Compression.Gzip)
    assert (again.seq, again.duplicate) == (1, True), again

    selectors = [
        metric_pb2.SeriesSelector(run=run, key="loss", all_labels=True),
        metric_pb2.SeriesSelector(run=run, key="count"),
        metric_pb2.SeriesSelector(run=run, key="flag"),
        metric_pb2.SeriesSelector(run=run, key="note"),
    ]
    loss, count, flag, note = metrics.ReadSeries(metric_pb2.ReadSeriesRequest(series=selectors)).series
    order = sorted(range(len(STEPS)), key=lambda i: STEPS[i])
    assert loss.values.bytes == struct.pack(f"<{len(VALUES)}d", *(VALUES[i] for i in order))
    assert loss.steps.bytes == struct.pack(f"<{len(STEPS)}d", *(STEPS[i] for i in order))
    assert dict(loss.labels) == {"rank": "3"} and loss.form == metric_pb2.FORM_EXACT
    assert count.values.bytes == struct.pack(f"<{len(INTEGERS)}q", *INTEGERS)
    assert flag.values.bytes == b"\x01\x00"
    assert list(note.texts) == TEXTS

    found = runs.SearchRuns(
        run_pb2.SearchRunsRequest(
            query='params.optim.name = "adam" and tags.team = "asr" and metrics.loss.max > 1e300',
            namespace="e2e",
            columns=["params", "metrics.loss.min"],
        )
    )
    assert [one.id for one in found.runs] == [run.id] and found.total_count == 1
    assert found.runs[0].metrics["loss.min"] == -math.inf
    assert found.runs[0].params["lr"] == "0.001"

    other = metric_pb2.Envelope(run=run, writer="grpcio", seq=1, tags={"team": "mt"})
    assert detail_of(refused(grpc.StatusCode.ALREADY_EXISTS, metrics.WriteEnvelope, other), error_pb2.ErrorDetail).reason == "SEQ_REUSED"
    gap = metric_pb2.Envelope(run=run, writer="grpcio", seq=9)
    detail = detail_of(refused(grpc.StatusCode.FAILED_PRECONDITION, metrics.WriteEnvelope, gap), error_pb2.ErrorDetail)
    assert detail.reason == "SEQ_GAP" and detail.facts["expected"] == "2", detail
    unknown = metric_pb2.Envelope(run=run_pb2.RunRef(id="f" * 32))
    refused(grpc.StatusCode.NOT_FOUND, metrics.WriteEnvelope, unknown)
    bad = run_pb2.SearchRunsRequest(query="params.lr >")
    assert "column" in detail_of(refused(grpc.StatusCode.INVALID_ARGUMENT, runs.SearchRuns, bad), error_pb2.ErrorDetail).facts

    def stream():
        for seq in range(2, 102):
            point = metric_pb2.SeriesPoints(key="streamed", values=[seq], steps=[seq])
            yield metric_pb2.Envelope(run=run, writer="grpcio", seq=seq, series=[point])

    assert [ack.seq for ack in metrics.StreamEnvelopes(stream())] == list(range(2, 102))
    verified = system.VerifyRun(system_pb2.VerifyRunRequest(run=run))
    assert verified.verdict == "101 of 101 envelopes, 0 gaps", verified
    assert not verified.problems and verified.points == 119, verified


def check_tools(channel):
    database = ProtoReflectionDescriptorDatabase(channel)
    services = set(database.get_services())
    ours = {f"cairn.v1.{name}Service" for name in ("Metric", "Namespace", "Run", "System")}
    assert ours | {"grpc.health.v1.Health"} <= services, services
    pool = descriptor_pool.DescriptorPool(database)
    write = pool.FindServiceByName("cairn.v1.MetricService").FindMethodByName("WriteEnvelope")
    assert write.input_type.full_name == "cairn.v1.Envelope"
    request_type = message_factory.GetMessageClass(pool.FindMessageTypeByName("grpc.health.v1.HealthCheckRequest"))
    response_type = message_factory.GetMessageClass(pool.FindMessageTypeByName("grpc.health.v1.HealthCheckResponse"))
    check = channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        request_serializer=request_type.SerializeToString,
        response_deserializer=response_type.FromString,
    )
    assert check(request_type(service="cairn.v1.RunService")).status == 1
    refused(grpc.StatusCode.NOT_FOUND, check, request_type(service="none"))


def main():
    target, protos = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, grpc.insecure_channel(target) as channel:
        make_stubs(protos, folder)
        grpc.channel_ready_future(channel).result(timeout=10)
        check_writing(channel)
        check_tools(channel)
    print("ok")


main()
