extension OperationNotice.Name {
  /// A run waits for a specification. The attribute `pause.reason` describes the specification.
  public static let runPaused = Self("run.paused")

  /// A run no longer waits. The attributes are `pause.reason`, `pause.duration` and `pause.outcome`.
  ///
  /// The outcome is `satisfied`, `cancelled` or `timedOut`.
  public static let runResumed = Self("run.resumed")
}

extension OperationNotice {
  /// Creates a notice about the run with this context.
  init(_ name: Name, in context: OperationContext, attributes: [String: Value]) {
    let runtime = context.runningOperationStore?.runtime
    self.init(name, ofOperationNamed: runtime?.operationName, path: runtime?.path, attributes: attributes)
  }
}

extension OperationRunSpecification {
  /// The text for the wait of a run: the description of the specification, or its type if it has none.
  var waitReason: String {
    switch self {
    case let described as any ComposedRunSpecification: described.description
    case let described as any CustomStringConvertible: ShownText.of(condition: self, otherwise: described.description)
    default: "\(Self.self)"
    }
  }
}

/// A condition that is made of others, whose texts its own text contains.
protocol ComposedRunSpecification: CustomStringConvertible {}

extension NotRunSpecification: ComposedRunSpecification {
  /// The condition as it is written.
  public var description: String { "!\(self.base.waitReason)" }
}

extension BinaryOperatorRunSpecification: ComposedRunSpecification {
  /// The condition as it is written.
  public var description: String {
    "(\(self.left.waitReason) \(self.operator == .and ? "&&" : "||") \(self.right.waitReason))"
  }
}

extension AlwaysRunSpecification: CustomStringConvertible {
  /// The condition as it is written.
  public var description: String { self.isTrue ? "always" : "never" }
}

extension AnySendableRunSpecification: ComposedRunSpecification {
  /// The description of the specification inside, or its type.
  public var description: String { self.base.waitReason }
}
