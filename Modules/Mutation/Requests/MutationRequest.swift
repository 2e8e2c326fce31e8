public import OperationCore

/// An operation that writes: it creates, updates or deletes something, with the arguments of each call.
///
/// ```swift
/// struct CreateMutation: MutationRequest, Hashable {
///   struct Arguments: Sendable {
///     let title: String
///   }
///
///   func mutate(
///     isolation: isolated (any Actor)?,
///     with arguments: Arguments,
///     in context: OperationContext,
///     with continuation: OperationContinuation<Post, any Error>
///   ) async throws -> Post {
///     try await server.createPost(titled: arguments.title)
///   }
/// }
///
/// let post = try await client.store(for: CreateMutation()).mutate(with: .init(title: "Hello"))
/// ```
///
/// One mutation can have any number of active calls. Its store never runs it automatically, and nothing retries it
/// unless you apply a modifier that does. A mutation that needs no continuation conforms to ``SimpleMutationRequest``.
public protocol MutationRequest<Arguments, MutateValue, MutateFailure>: StatefulOperationRequest
where State == MutationState<Arguments, MutateValue, MutateFailure> {
  /// The arguments of a call.
  associatedtype Arguments: Sendable

  /// The value that a call returns.
  associatedtype MutateValue: Sendable

  /// The error that a call can throw.
  associatedtype MutateFailure: Error

  /// The state that a store keeps for this mutation.
  associatedtype State = MutationState<Arguments, MutateValue, MutateFailure>

  /// The value that a run produces.
  associatedtype Value = MutateValue

  /// The error that a run can throw.
  associatedtype Failure = MutateFailure

  /// Does the work of one call.
  ///
  /// - Parameters:
  ///   - isolation: The actor to run on. Nil to run on no actor.
  ///   - arguments: The arguments of the call.
  ///   - context: The configuration and dependencies of this call.
  ///   - continuation: Yields values before the returned one.
  /// - Returns: The final value of the call.
  /// - Throws: The failure of the call.
  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<MutateValue, MutateFailure>
  ) async throws(MutateFailure) -> MutateValue
}

extension MutationRequest {
  /// Calls ``mutate(isolation:with:in:with:)`` with the arguments in the context.
  ///
  /// Stores add them to the context: see ``OperationCore/OperationStore/mutate(with:using:handler:)``. A run without
  /// arguments, such as a plain `run()`, is reported and throws a ``MutationError``. If `Arguments` is `Void`, it is a
  /// normal call.
  ///
  /// - Precondition: The context has arguments, or `MutateFailure` can represent a ``MutationError``, as `any Error`
  ///   can.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<MutateValue, MutateFailure>
  ) async throws(MutateFailure) -> MutateValue {
    guard let arguments = context.mutationArguments(as: Arguments.self) else { throw self.missingArguments() }
    guard let observer = context.mutationBodyObserver, observer.observes(context.operationRunningTaskIdentifier)
    else { return try await self.mutate(isolation: isolation, with: arguments, in: context, with: continuation) }
    let cancellation = CancellationError() as? MutateFailure
    guard await observer.bodyWillBegin(mayRefuse: cancellation != nil) else {
      guard let cancellation else { preconditionFailure("A body is refused only if its run can end without it.") }
      throw cancellation
    }
    do throws(MutateFailure) {
      let value = try await self.mutate(isolation: isolation, with: arguments, in: context, with: continuation)
      await observer.bodyDidEnd(isSuccess: true)
      return value
    } catch {
      await observer.bodyDidEnd(isSuccess: false)
      throw error
    }
  }

  private func missingArguments() -> MutateFailure {
    let error = MutationError.missingArguments(of: self.path)
    OperationWarning(code: .missingArguments, message: error.message).report()
    guard let failure = error as? MutateFailure else { preconditionFailure(error.message) }
    return failure
  }
}

extension MutationRequest {
  /// False: only a caller can provide the arguments.
  public var allowsAutomaticRuns: Bool { false }

  /// Returns the name of the mutation and what the run does: `CreatePost: mutate`.
  public func taskName(in context: OperationContext) -> String { "\(self.operationName): mutate" }

  /// Returns whether two calls have the same arguments: `Void`, or equal values of an `Equatable` type.
  ///
  /// So with `.deduplicated()` a call shares the run of an active call with equal arguments. If the arguments are not
  /// `Equatable`, no run is shared.
  public func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    guard
      let arguments = context.mutationArguments(as: Arguments.self),
      let otherArguments = other.mutationArguments(as: Arguments.self)
    else { return false }
    if Arguments.self == Void.self { return true }
    return (arguments as? any Equatable)?.isEqual(to: otherArguments) ?? false
  }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { (other as? Self) == self }
}
