import OperationCore
import OperationScheduling
import OperationTesting
import Synchronization
import TestFixtures

typealias Script = OperationScript<Int, any Error>

/// An error of an operation that can fail in one way only.
enum OnlyFailure: Error, Hashable {
  case denied(String)
  case other
}

/// An operation that does what a closure says.
struct Work<Value: Sendable, Failure: Error>: OperationRequest, Sendable {
  var operationName = "Work"
  let body: @Sendable (OperationContext) async throws(Failure) -> Value

  init(_ name: String = "Work", _ body: @escaping @Sendable (OperationContext) async throws(Failure) -> Value) {
    self.operationName = name
    self.body = body
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await self.body(context)
  }
}

/// Work without a value that can throw any error.
typealias AnyWork = Work<Void, any Error>

/// A condition that does what closures say.
struct Check: OperationCondition {
  var dependency: (any OperationRequest & Sendable)?
  let result: @Sendable () async -> OperationConditionResult

  init(
    dependency: (any OperationRequest & Sendable)? = nil,
    _ result: @escaping @Sendable () async -> OperationConditionResult
  ) {
    self.dependency = dependency
    self.result = result
  }

  func dependency(in context: OperationContext) -> (any OperationRequest & Sendable)? { self.dependency }

  func evaluate(in context: OperationContext) async -> OperationConditionResult { await self.result() }
}

extension Check {
  static var satisfied: Check { Check { .satisfied } }
  static var skipped: Check { Check { .skipped } }
  static func denied(_ code: Int = 0) -> Check { Check { .denied(Refused(code: code)) } }
}

extension OperationRequest where Self: Sendable, Value: Sendable {
  /// A run that has begun when this returns.
  func begin() -> Task<Value, any Error> {
    Task.immediate { try await OperationRunner(operation: self).run(isolation: nil) }
  }

  /// Runs the operation.
  func runOnce() async throws -> Value {
    try await OperationRunner(operation: self).run(isolation: nil)
  }
}

/// Counts how many tasks are between `enter()` and `leave()` at a time.
final class InsideCounter: Sendable {
  private let content = Mutex((now: 0, most: 0, entered: 0))

  var most: Int { self.content.withLock { $0.most } }
  var entered: Int { self.content.withLock { $0.entered } }

  func enter() {
    self.content.withLock { content in
      content.now += 1
      content.entered += 1
      content.most = max(content.most, content.now)
    }
  }

  func leave() {
    self.content.withLock { $0.now -= 1 }
  }
}

/// Waits for a task of the executor, so that other tasks get a turn.
func elsewhere() async {
  await Task.detached {}.value
}

/// Names of categories that no other test uses.
struct Names: Sendable {
  private final class Owner: Sendable {}

  private struct Name: Hashable, Sendable {
    let owner: ObjectIdentifier
    let name: String
  }

  private let owner = Owner()

  func callAsFunction(_ name: String) -> OperationCategory {
    OperationCategory(Name(owner: ObjectIdentifier(self.owner), name: name))
  }
}
