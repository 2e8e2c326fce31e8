/// A Swift expression from a file. Its brackets and strings are complete; the compiler checks the rest.
struct ExpressionText {
  let text: String
  let place: Place

  /// Reads the expression in a string. Reports an error and returns nil if it is invalid.
  init?(_ string: JSONString, log: inout DiagnosticLog) {
    var scanner = ExpressionScanner(string.text)
    do {
      try scanner.scanAll()
    } catch {
      log.report(
        .malformedExpression,
        at: string.place(ofByte: error.offset),
        "\(error.message) in the expression '\(string.text.onOneLine)'",
        remedy: error.remedy
      )
      return nil
    }
    self.text = string.text
    self.place = string.place(ofByte: 0)
  }

  /// Creates an expression that needs no check.
  init(text: String, place: Place) {
    self.text = text
    self.place = place
  }
}
