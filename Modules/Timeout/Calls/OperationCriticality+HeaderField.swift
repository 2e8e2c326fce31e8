internal import OperationCore

extension OperationCriticality {
  /// The header field with the level of a request.
  ///
  /// No standard defines it; services that follow the book *Site Reliability Engineering* use this name for its levels.
  static let fieldName = "X-Request-Criticality"

  /// Reads the level, written as the book writes it and without its case; nil for anything else.
  init?(headerField text: String) {
    let text = String(text.trimmed)
    guard let level = Self.allCases.first(where: { text.isHeaderName($0.description) }) else { return nil }
    self = level
  }
}
