import Operation
import Synchronization

/// A number that only grows.
final class Counter: Sendable {
  private let number = Atomic(0)

  var count: Int { self.number.load(ordering: .relaxed) }

  func increment() {
    self.number.add(1, ordering: .relaxed)
  }
}

extension OperationRequest {
  /// Counts the runs of the operation with the modifiers before this one.
  func counted(by counter: Counter) -> ModifiedOperation<Self, Counting<Self>> {
    self.modifier(Counting(counter: counter))
  }
}

/// Counts runs: a modifier of our own.
struct Counting<Operation: OperationRequest>: OperationModifier {
  let counter: Counter

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    self.counter.increment()
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// Counts the notices that modifiers send.
final class NoticeCounts: OperationNoticeObserver {
  private let counts = Mutex<[OperationNotice.Name: Int]>([:])

  subscript(name: OperationNotice.Name) -> Int { self.counts.withLock { $0[name] ?? 0 } }

  func receive(_ notice: OperationNotice, in context: OperationContext) {
    self.counts.withLock { $0[notice.name, default: 0] += 1 }
  }
}
