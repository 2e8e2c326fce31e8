import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A yield after the run has returned changes nothing, and is reported.
@Suite(.bounded, .warningsAreIssues)
struct LateYieldTests {
  @Test
  func `In a store`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query())
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    run.succeed(1)
    _ = try await fetch.finished()
    let count = recorder.events.count
    expectWarning(.yieldAfterReturn) { run.yield(2) }
    expectWarning(.yieldAfterReturn) { run.yield(error: Refused()) }
    expect(store.currentValue, equals: 1)
    expect(store.valueUpdateCount, equals: 1)
    expect(store.errorUpdateCount, equals: 0)
    expect(recorder.events.count, equals: count)
  }

  @Test
  func `In a runner`() async throws {
    let script = IntScript()
    let runner = OperationRunner(operation: script.operation())
    let log = Log<String>()
    let result = Task {
      try await runner.run(with: OperationContinuation { result, _ in log.append("\(result)") })
    }
    let run = try await script.next()
    run.yield(1)
    run.succeed(2)
    _ = try await result.finished()
    expectWarning(.yieldAfterReturn) { run.yield(3) }
    expect(log.all, equals: ["success(1)"])
  }

  @Test
  func `After the store has gone`() async throws {
    let script = IntScript()
    var store: IntStore? = .detached(query: script.query())
    let task = try #require(store?.fetchTask())
    let fetch = Task.immediate { try await task.runIfNeeded() }
    let run = try await script.next()
    store = nil
    run.succeed(1)
    _ = try await fetch.finished()
    expectWarning(.yieldAfterReturn) { run.yield(2) }
  }

  @Test
  func `A continuation passes on its result and its context`() {
    let log = Log<String>()
    let continuation = OperationContinuation<Int, any Error> { result, context in
      log.append("\(result) \(context?[NumberKey.self] ?? -1)")
    }
    var context = OperationContext()
    context[NumberKey.self] = 3
    continuation.yield(1)
    continuation.yield(2, using: context)
    continuation.yield(error: Refused(), using: context)
    continuation.yield(with: .success(4))
    expect(
      log.all,
      equals: ["success(1) -1", "success(2) 3", "failure(TestFixtures.Refused(code: 0)) 3", "success(4) -1"]
    )
  }
}
