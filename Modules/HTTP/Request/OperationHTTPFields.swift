/// The header fields of a request or of a response, in their order.
///
/// ```swift
/// let fields: OperationHTTPFields = ["Accept": "application/json"]
/// fields["accept"]  // application/json
/// ```
///
/// Names are compared without regard to case.
public struct OperationHTTPFields: Hashable, Sendable {
  /// A field: its name, as it was written, and its value.
  public struct Field: Hashable, Sendable {
    /// The name, as it was written.
    public let name: String

    /// The value.
    public let value: String

    let key: String

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
      self.key = name.lowercased()
    }

    /// Whether the names are the same without their case, and the values are the same.
    public static func == (left: Field, right: Field) -> Bool { left.key == right.key && left.value == right.value }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(self.key)
      hasher.combine(self.value)
    }
  }

  private var fields: [Field] = []

  /// Creates no fields.
  public init() {}

  /// Creates fields.
  ///
  /// - Parameter fields: The names and values.
  public init(_ fields: some Sequence<(name: String, value: String)>) {
    self.fields = fields.map { Field(name: $0.name, value: $0.value) }
  }

  /// Creates fields, in the order of their names.
  ///
  /// - Parameter fields: The values by their names.
  public init(_ fields: [String: String]) {
    self.fields = fields.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) }
  }

  /// The value of the first field with a name. Setting it replaces all of that name, and nil removes them.
  ///
  /// - Parameter name: The name, in any case.
  public subscript(name: String) -> String? {
    get {
      let key = name.lowercased()
      return self.fields.first { $0.key == key }?.value
    }
    set {
      let key = name.lowercased()
      self.fields.removeAll { $0.key == key }
      if let newValue { self.fields.append(Field(name: name, value: newValue)) }
    }
  }

  /// Adds a field, beside others of that name.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - value: The value.
  public mutating func append(name: String, value: String) {
    self.fields.append(Field(name: name, value: value))
  }
}

extension OperationHTTPFields: RandomAccessCollection {
  /// The position of the first field.
  public var startIndex: Int { self.fields.startIndex }

  /// The position after the last field.
  public var endIndex: Int { self.fields.endIndex }

  /// The field at a position.
  public subscript(position: Int) -> Field { self.fields[position] }
}

extension OperationHTTPFields: ExpressibleByDictionaryLiteral {
  /// Creates fields in the order in which they are written.
  public init(dictionaryLiteral fields: (String, String)...) {
    self.fields = fields.map { Field(name: $0.0, value: $0.1) }
  }
}

extension OperationHTTPFields: CustomStringConvertible {
  /// The names of the fields. Values can be secrets, so they are left out.
  public var description: String { "[\(self.fields.map(\.name).joined(separator: ", "))]" }
}
