/// An event in a modifier, such as a rejection, a timeout or a fallback.
///
/// Modifiers send notices with ``OperationContext/send(_:)``. Modules that measure, log or trace runs receive them as
/// ``OperationNoticeObserver``s, and do not depend on the modifier:
///
/// ```swift
/// extension OperationNotice.Name {
///   static let quotaExceeded = Self("quota.exceeded")
/// }
///
/// context.send(OperationNotice(.quotaExceeded, of: operation, attributes: ["quota.limit": .integer(10)]))
/// ```
public struct OperationNotice: Sendable {
  /// The kind of a notice.
  public struct Name: Hashable, Sendable, CustomStringConvertible {
    /// The name: lowercase words, from general to special, with dots between them: `circuit.opened`.
    public let description: String

    /// Creates a name.
    ///
    /// - Parameter description: Lowercase words, from general to special, with dots between them. It must be one of a
    ///   small number of names, because metrics record a separate series for each.
    public init(_ description: String) {
      self.description = description
    }
  }

  /// A value of an attribute.
  @nonexhaustive(warn)
  public enum Value: Hashable, Sendable {
    /// A text without user data.
    case string(String)
    /// A whole number.
    case integer(Int)
    /// A number.
    case number(Double)
    /// A duration.
    case duration(Duration)
    /// A truth value.
    case flag(Bool)
  }

  /// The kind of the notice.
  public let name: Name

  /// The ``OperationRequest/operationName`` of the operation; nil for a notice that concerns no single operation.
  public let operationName: String?

  /// The path of the operation, which may contain user data; nil for an operation without one.
  public let path: OperationPath?

  /// Further facts, by names such as `timeout.limit`. They contain no user data.
  public let attributes: [String: Value]

  /// If the notice reports a number, such as waiting calls: the current number. Nil for a notice of an event.
  ///
  /// Metrics show the last number. Logs and traces leave such notices out.
  public let level: Int?

  /// Creates a notice about a run of an operation.
  ///
  /// - Parameters:
  ///   - name: The kind of the notice.
  ///   - operation: The operation.
  ///   - attributes: Further facts, by names such as `timeout.limit`, without user data.
  public init(_ name: Name, of operation: some OperationRequest, attributes: [String: Value] = [:]) {
    self.name = name
    self.operationName = operation.operationName
    self.path = (operation as? any OperationPathable)?.path
    self.attributes = attributes
    self.level = nil
  }

  /// Creates a notice about an operation of which only the name is known.
  ///
  /// - Parameters:
  ///   - name: The kind of the notice.
  ///   - operationName: The ``OperationRequest/operationName`` of the operation; nil if it is unknown.
  ///   - attributes: Further facts, by names such as `journal.name`, without user data.
  public init(_ name: Name, ofOperationNamed operationName: String?, attributes: [String: Value] = [:]) {
    self.init(name, ofOperationNamed: operationName, path: nil, attributes: attributes)
  }

  package init(
    _ name: Name,
    ofOperationNamed operationName: String?,
    path: OperationPath?,
    attributes: [String: Value]
  ) {
    self.name = name
    self.operationName = operationName
    self.path = path
    self.attributes = attributes
    self.level = nil
  }

  /// Creates a notice that concerns no single operation, such as one about a batch.
  ///
  /// - Parameters:
  ///   - name: The kind of the notice.
  ///   - attributes: Further facts, by names such as `batch.size`, without user data.
  public init(_ name: Name, attributes: [String: Value] = [:]) {
    self.init(name, ofOperationNamed: nil, attributes: attributes)
  }

  /// Creates a notice with the current number of something, such as the calls that wait in a queue.
  ///
  /// Send these notices in the order in which the number changes.
  ///
  /// - Parameters:
  ///   - name: What is counted: one of a small number of names.
  ///   - level: The current number.
  public init(_ name: Name, level: Int) {
    self.name = name
    self.operationName = nil
    self.path = nil
    self.attributes = [:]
    self.level = level
  }
}

extension OperationNotice: CustomStringConvertible {
  /// The name, the operation, the level and the attributes, without the path.
  public var description: String {
    let attributes = self.attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    let facts = [self.operationName, self.level.map { "level=\($0)" }].compactMap(\.self)
    return ([self.name.description] + facts + attributes).joined(separator: " ")
  }
}

extension OperationNotice.Value: CustomStringConvertible {
  /// The value as text, a duration rounded.
  public var description: String {
    switch self {
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .duration(let duration): duration.roundedText
    case .flag(let flag): "\(flag)"
    }
  }
}
