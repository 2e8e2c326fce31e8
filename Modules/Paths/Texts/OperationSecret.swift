/// A type with values that appear in no event and in no explanation.
///
/// A path element or an error that conforms to it is shown as the name of its type. If a property of an element or of
/// an error conforms, or a part of a property, the whole is shown by its parts and not by its own description.
///
/// ```swift
/// struct SessionToken: Hashable, Sendable, OperationSecret { … }
/// ```
///
/// The values of operations are never shown: an explanation has their types and sizes. The descriptions of an
/// `EncodingError` and of a `DecodingError` have the value, so such an error is shown by its kind and its coding path.
public protocol OperationSecret {}

/// Texts of errors and paths for logs, events and pages, in which every ``OperationSecret`` is the name of its type.
public enum ShownText {
  private static let maximumLength = 200

  /// The text of an error in one line of at most 200 characters, without secrets and without a period at its end.
  ///
  /// - Parameter error: The error.
  /// - Returns: The description of the error; for an error with a secret, an `EncodingError` or a `DecodingError`, a text
  ///   that is made of its properties.
  public static func of(_ error: any Error) -> String {
    let line = String(self.of(value: error, otherwise: "\(error)").map { $0.isNewline ? " " : $0 })
    if line.count > self.maximumLength { return "\(line.prefix(self.maximumLength))…" }
    return line.hasSuffix(".") ? String(line.dropLast()) : line
  }

  /// The elements of a path as an array literal, without secrets: `["users", SessionToken]`.
  ///
  /// - Parameter path: The path.
  /// - Returns: The text.
  public static func of(_ path: OperationPath) -> String {
    let elements = path.map { self.of(value: $0.base, otherwise: $0.description) }
    return "[\(elements.joined(separator: ", "))]"
  }

  /// A number with a noun: `1 element`, `2 elements`.
  package static func count(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }
}
