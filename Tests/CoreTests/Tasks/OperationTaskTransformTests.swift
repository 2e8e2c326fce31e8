import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded, .warningsAreIssues) struct OperationTaskTransformTests {
  private let work = GatedWork()

  @Test func `A task maps its value`() async throws {
    let task = work.task()
    let mapped = task.map { "\($0 + 1)" }
    work.gate.open()
    try await expect(mapped.runIfNeeded(), equals: "2")
    try await expect(mapped.runIfNeeded(), equals: "2")
    try await expect(task.runIfNeeded(), equals: 1)
    expect(work.runCount, equals: 1)
  }

  @Test func `A transform may throw`() async throws {
    let task = OperationTask<Int, Refused> { _, _ async throws(Refused) -> Int in 4 }
    let mapped = task.map { value throws(Refused) -> String in throw Refused(code: value) }
    await #expect(throws: Refused(code: 4)) { try await mapped.runIfNeeded() }
    try await expect(task.runIfNeeded(), equals: 4)
  }

  @Test func `A task maps its error`() async throws {
    struct Wrapped: Error, Equatable {
      let base: Refused
    }
    let task = OperationTask<Int, Refused> { _, _ async throws(Refused) -> Int in throw Refused(code: 2) }
    let mapped: OperationTask<Int, Wrapped> = task.mapError { Wrapped(base: $0) }
    await #expect(throws: Wrapped(base: Refused(code: 2))) { try await mapped.runIfNeeded() }
    let again: OperationTask<Int, Refused> = mapped.mapError { $0.base }
    let text = again.map { "\($0)" }
    await #expect(throws: Refused(code: 2)) { try await text.runIfNeeded() }
  }

  @Test func `Transformed tasks share the run of the task inside`() async throws {
    let task = work.task()
    let callers = [task.map { $0 }, task.map { $0 * 10 }].map { mapped in
      Task.immediate { try await mapped.runIfNeeded() }
    }
    let plain = Task.immediate { try await task.runIfNeeded() }
    work.gate.open()
    try await expect(callers[0].value, equals: 1)
    try await expect(callers[1].value, equals: 10)
    try await expect(plain.value, equals: 1)
    expect(work.runCount, equals: 1)
  }

  @Test func `Cancelling the transformed task cancels the one inside`() async throws {
    let task = work.task()
    let mapped = task.map { $0 }
    let caller = Task.immediate { try await mapped.runIfNeeded() }
    mapped.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    #expect(task.isCancelled)
    expect(work.cancelledRunCount, equals: 1)
  }

  @Test func `Cancelling one of two transformed tasks leaves the other`() async throws {
    let task = work.task()
    let (mapped, other) = (task.map { $0 }, task.map { $0 })
    let caller = Task.immediate { try await mapped.runIfNeeded() }
    let otherCaller = Task.immediate { try await other.runIfNeeded() }
    mapped.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    #expect(!task.isCancelled)
    work.gate.open()
    try await expect(otherCaller.value, equals: 1)
  }

  @Test func `Cancelling the task inside ends the transformed one`() async throws {
    let task = work.task()
    let mapped = task.map { $0 }
    let caller = Task.immediate { try await mapped.runIfNeeded() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    #expect(!mapped.isCancelled)
  }

  @Test func `A transformed task that is cancelled before its start leaves the task inside alone`() async throws {
    let task = work.task()
    let mapped = task.map { $0 }
    mapped.cancel()
    await #expect(throws: CancellationError.self) { try await mapped.runIfNeeded() }
    #expect(!task.hasStarted)
    #expect(!task.isCancelled)
    work.gate.open()
    try await expect(task.runIfNeeded(), equals: 1)
  }

  @Test func `Maps of maps do not overflow the stack`() async throws {
    work.gate.open()
    var mapped = work.task()
    for _ in 0..<10_000 { mapped = mapped.map { $0 + 1 } }
    let last = mapped
    try await expect(withTimeLimit("the maps") { try await last.runIfNeeded() }, equals: 10_001)
  }

  @Test func `Maps of maps that are never run do not overflow the stack`() {
    var mapped = work.task()
    for _ in 0..<100_000 { mapped = mapped.map { $0 + 1 } }
    #expect(!mapped.hasStarted)
  }
}
