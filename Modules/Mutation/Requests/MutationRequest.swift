public import OperationCore

/// An operation that writes: it creates, updates or deletes something, with arguments that each call brings.
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
/// One mutation serves any number of calls at a time. Its store never runs it unasked, and nothing retries it unless
/// you say so.
public protocol MutationRequest<Arguments, MutateValue, MutateFailure>: StatefulOperationRequest
where State == MutationState<Arguments, MutateValue, MutateFailure> {
  /// What a call brings.
  associatedtype Arguments: Sendable

  /// What a call produces.
  associatedtype MutateValue: Sendable

  /// What a call can throw.
  associatedtype MutateFailure: Error

  associatedtype State = MutationState<Arguments, MutateValue, MutateFailure>
  associatedtype Value = MutateValue
  associatedtype Failure = MutateFailure

  /// Does the work of one call.
  ///
  /// - Parameters:
  ///   - isolation: The actor to run on; nil to run on no actor.
  ///   - arguments: What the call brought.
  ///   - context: The configuration and dependencies of this call.
  ///   - continuation: Takes values ahead of the returned one.
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
  /// Stores put them there: see ``OperationCore/OperationStore/mutate(with:using:handler:)``. A run without arguments,
  /// as by a plain `run()`, is reported and throws a ``MutationError``; with `Void` arguments it is a call like any
  /// other.
  ///
  /// - Precondition: The context has arguments, or `MutateFailure` has room for a ``MutationError``, as `any Error`
  ///   has.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<MutateValue, MutateFailure>
  ) async throws(MutateFailure) -> MutateValue {
    guard let arguments = context.mutationArguments(as: Arguments.self) else { throw self.missingArguments() }
    return try await self.mutate(isolation: isolation, with: arguments, in: context, with: continuation)
  }

  private func missingArguments() -> MutateFailure {
    let error = MutationError.missingArguments(of: self.path)
    OperationWarning(code: .missingArguments, message: error.message).report()
    guard let failure = error as? MutateFailure else { preconditionFailure(error.message) }
    return failure
  }
}

extension MutationRequest {
  /// False: only a caller has arguments.
  public var canRunUnasked: Bool { false }

  public func taskName(in context: OperationContext) -> String { "\(self.operationName): mutate" }

  /// Whether two calls have the same arguments: `Void`, or of an `Equatable` type and equal.
  ///
  /// So `.deduplicated()` lets a second call with equal arguments share the first while that is under way, and shares
  /// nothing where arguments cannot be compared.
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
