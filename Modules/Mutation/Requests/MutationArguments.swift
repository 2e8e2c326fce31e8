public import OperationCore

extension OperationContext {
  /// Returns the arguments of the mutation that runs with this context, for use in modifiers and handlers.
  ///
  /// Nil if no mutation with arguments of that type runs.
  public func mutationArguments<Arguments: Sendable>(as type: Arguments.Type = Arguments.self) -> Arguments? {
    if let arguments = self[MutationArgumentsKey<Arguments>.self] { return arguments }
    // `Void` arguments need no entry.
    return Arguments.self == Void.self ? () as? Arguments : nil
  }

  /// Replaces the arguments of the mutation that runs with this context.
  package mutating func setMutationArguments<Arguments: Sendable>(_ arguments: Arguments) {
    self[MutationArgumentsKey<Arguments>.self] = arguments
  }

  /// Returns the context, or an empty one, with an entry for `arguments`.
  static func calling<Arguments: Sendable>(with arguments: Arguments, in context: OperationContext?) -> Self {
    var context = context ?? OperationContext()
    context[MutationArgumentsKey<Arguments>.self] = arguments
    return context
  }
}

private enum MutationArgumentsKey<Arguments: Sendable>: OperationContext.Key {
  static var defaultValue: Arguments? { nil }
}
