/// Something that a modifier did around a run, such as a rejection, a timeout or a fallback.
///
/// Modifiers send notices with ``OperationContext/send(_:)``. Modules that measure, log or trace runs receive them as
/// ``OperationNoticeObserver``s, and need not know the modifier:
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
  }

  /// Creates a notice that concerns no single operation, such as one about a batch.
  ///
  /// - Parameters:
  ///   - name: The kind of the notice.
  ///   - attributes: Further facts, by names such as `batch.size`, without user data.
  public init(_ name: Name, attributes: [String: Value] = [:]) {
    self.name = name
    self.operationName = nil
    self.path = nil
    self.attributes = attributes
  }
}

extension OperationNotice: CustomStringConvertible {
  /// The name, the operation and the attributes, without the path.
  public var description: String {
    let attributes = self.attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return ([self.name.description] + [self.operationName].compactMap(\.self) + attributes).joined(separator: " ")
  }
}

extension OperationNotice.Value: CustomStringConvertible {
  /// The value as text.
  public var description: String {
    switch self {
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .duration(let duration): "\(duration)"
    case .flag(let flag): "\(flag)"
    }
  }
}
