public import Foundation
public import OperationCore
internal import Synchronization

/// Values that were computed earlier, with their dates: a second level behind the state of stores.
public final class Archive<Value: Sendable>: Sendable {
  private let values = Mutex<[OperationPath: (value: Value, date: Date)]>([:])

  public init() {}

  /// Keeps a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - path: The path of the operation that has computed it.
  ///   - date: When it was computed.
  public func keep(_ value: Value, at path: OperationPath, from date: Date) {
    _ = self.values.withLock { $0.updateValue((value, date), forKey: path) }
  }

  /// The value of an operation, with its date.
  public func value(at path: OperationPath) -> (value: Value, date: Date)? { self.values.withLock { $0[path] } }
}

extension StatefulOperationRequest where Value: Sendable {
  /// Takes the value from an archive that has one, and keeps it there otherwise. Its age counts from when it was computed.
  public func archived(in archive: Archive<Value>) -> ModifiedOperation<Self, Archived<Self>> {
    self.modifier(Archived(archive: archive))
  }
}

/// The modifier that `.archived(in:)` applies.
public struct Archived<Operation: StatefulOperationRequest>: OperationModifier where Operation.Value: Sendable {
  let archive: Archive<Operation.Value>

  public func setup(context: inout OperationContext, using operation: Operation) {
    context.addEntriesToOutcomes()
    operation.setup(context: &context)
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    if let (value, date) = self.archive.value(at: operation.path) {
      context.dateOutcome(date)
      return value
    }
    let value = try await operation.run(isolation: isolation, in: context, with: continuation)
    self.archive.keep(value, at: operation.path, from: context.operationClock.now())
    return value
  }
}
