import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationScheduling

/// Values of users that are released when an operation ends: their deinitializers may call schedulers.
@Suite(.bounded, .warningsAreIssues)
struct DeinitializerTests {
  private let script = Script()
  private let other = OperationScheduler()

  /// A value whose deinitializer calls a scheduler.
  private func value(_ released: Receiver<Int>) -> ReleaseCallback {
    ReleaseCallback { [other] in released.receive(other.operationCount) }
  }

  @Test func `A scheduler that waits for the operation of another one may be released with it`() async throws {
    let released = Receiver<Int>()
    let operation = OperationScheduler().schedule(self.script.operation())
    let run = try await self.script.next()
    do {
      var context = OperationContext()
      context[ValueKey.self] = self.value(released)
      OperationScheduler(initialContext: context).addDependency(operation)
    }
    #expect(released.all.isEmpty)
    run.succeed(1)
    try await expect(operation.value, equals: 1)
    try await released.values(count: 1)
  }

  @Test func `A value that is kept in place of another one releases that without a lock`() async throws {
    let hasResult = Receiver<Bool>()
    let operation = OperationScheduler().schedule(Work<ReleaseCallback?, any Error>("none") { _ in nil })
    #expect(try await operation.value == nil)
    operation.keep(ReleaseCallback { [weak operation] in hasResult.receive(operation?.result != nil) })
    operation.keep(nil)
    expect(hasResult.all, equals: [true])
  }

  @Test func `Cancelled dependents may be released with the schedulers that they waited in`() async throws {
    let released = Receiver<Int>()
    let operation = OperationScheduler().schedule(self.script.operation())
    let run = try await self.script.next()
    for _ in 0..<10 {
      var context = OperationContext()
      context[ValueKey.self] = self.value(released)
      let scheduler = OperationScheduler(initialContext: context)
      let dependent = scheduler.schedule(AnyWork { _ in }) { $0.addDependency(operation) }
      dependent.cancel()
      _ = try? await dependent.value
    }
    run.succeed(1)
    try await expect(operation.value, equals: 1)
    try await released.values(count: 10)
  }
}

private enum ValueKey: OperationContext.Key {
  static var defaultValue: ReleaseCallback? { nil }
}
