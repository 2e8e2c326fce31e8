/// A state in which a result replaces the one before it: only the last result and their number matter.
protocol ReplacingState: OperationState {}

extension QueryState: ReplacingState {}

extension DefaultOperationState: ReplacingState where Base: ReplacingState {}

/// A state made of parts, in which a result of a run replaces an earlier result of that run for the same part.
package protocol PartwiseReplacingState: OperationState, Sendable {
  /// Returns the part for which a run with this context reports results; nil when they do not replace each other.
  static func replacedPart(in context: OperationContext) -> Int?
}

extension DefaultOperationState: PartwiseReplacingState where Base: PartwiseReplacingState {
  package static func replacedPart(in context: OperationContext) -> Int? { Base.replacedPart(in: context) }
}
