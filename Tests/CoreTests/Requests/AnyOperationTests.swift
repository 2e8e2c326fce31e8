import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `AnyOperation`: operations of different types as one.
@Suite(.bounded, .warningsAreIssues)
struct AnyOperationTests {
  @Test
  func `It sets up, runs, yields and fails as what it wraps`() async throws {
    let script = IntScript()
    let operation = AnyOperation(script.operation().context { $0[NumberKey.self] = 4 })
    let runner = OperationRunner(operation: operation)
    expect(runner.context[NumberKey.self], equals: 4)
    let log = Log<String>()
    script.enqueue(.yield(.success(1), then: .value(2)), .error(Refused(code: 3)))
    let value: Int = try await runner.run(
      with: OperationContinuation { result, _ in log.append("\((try? result.get()) ?? 0)") }
    )
    expect(value, equals: 2)
    expect(log.all, equals: ["1"])
    await #expect(throws: Refused(code: 3)) { try await runner.run() }
  }

  @Test
  func `Operations of different types are values of one`() async throws {
    let operations: [AnyOperation<Int, any Error>] = [
      AnyOperation(IntScript(default: .value(1)).operation()),
      AnyOperation(NumberQuery(2)),
      AnyOperation(IntScript(default: .value(3)).query().stale(after: .seconds(1))),
    ]
    var values: [Int] = []
    for operation in operations { values.append(try await OperationRunner(operation: operation).run()) }
    expect(values, equals: [1, 2, 3])
  }

  @Test
  func `Modifiers stand around it, and failures stay typed`() async {
    let failing = AnyOperation(FailingOperation()).clock(.timeFreeze())
    do throws(Refused) {
      try await OperationRunner(operation: failing).run()
      Issue.record("It did not fail.")
    } catch {
      expect(error, equals: Refused(code: 8))
    }
  }

  @Test
  func `It keeps the name and the sameness of runs, and is wrapped once`() {
    let once = AnyOperation(FailingOperation())
    let twice = AnyOperation(once)
    #expect(twice.base is FailingOperation)
    expect(twice.operationName, equals: "failing")
    #expect(!twice.isSameRun(in: OperationContext(), as: OperationContext()))
  }
}

private struct FailingOperation: OperationRequest {
  var operationName: String { "failing" }

  func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool { false }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, Refused>
  ) async throws(Refused) {
    throw Refused(code: 8)
  }
}
