public import OperationCore

/// A mutation whose calls return one value, and need no continuation.
///
/// ```swift
/// struct RenameMutation: SimpleMutationRequest, Hashable {
///   let id: Int
///
///   var path: OperationPath { ["posts", id, "rename"] }
///
///   func mutate(with title: String, in context: OperationContext) async throws -> Post {
///     try await api.rename(id, to: title)
///   }
/// }
/// ```
///
/// It is a ``MutationRequest`` in everything else. Conform to that one if a call yields values before the one that it
/// returns.
public protocol SimpleMutationRequest<Arguments, MutateValue, MutateFailure>: MutationRequest {
  associatedtype Arguments
  associatedtype MutateValue
  associatedtype MutateFailure
  associatedtype State = MutationState<Arguments, MutateValue, MutateFailure>
  associatedtype Value = MutateValue
  associatedtype Failure = MutateFailure

  /// Does the work of one call.
  ///
  /// It runs on the actor that the run is on: on none in a store. Written `@concurrent`, it never runs on an actor.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the call.
  ///   - context: The configuration and dependencies of this call.
  /// - Returns: The value of the call.
  /// - Throws: The failure of the call.
  nonisolated(nonsending) func mutate(
    with arguments: Arguments,
    in context: OperationContext
  ) async throws(MutateFailure) -> MutateValue
}

extension SimpleMutationRequest {
  /// Calls ``mutate(with:in:)``.
  public func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<MutateValue, MutateFailure>
  ) async throws(MutateFailure) -> MutateValue {
    try await self.mutate(with: arguments, in: context)
  }
}
