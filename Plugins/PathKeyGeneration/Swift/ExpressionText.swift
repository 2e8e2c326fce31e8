/// An expression of Swift as the file writes it: it ends where it should, and the rest is for the compiler.
struct ExpressionText {
  let text: String
  let place: Place

  /// The expression that a string holds; says what is wrong with it where it is none.
  init?(_ string: JSONString, log: inout DiagnosticLog) {
    var scanner = ExpressionScanner(string.text)
    do {
      try scanner.scanAll()
    } catch {
      log.report(
        .malformedExpression,
        at: string.place(ofByte: error.offset),
        "\(error.what) in the expression '\(string.text.onOneLine)'",
        remedy: error.remedy
      )
      return nil
    }
    self.text = string.text
    self.place = string.place(ofByte: 0)
  }

  /// An expression that needs no check.
  init(text: String, place: Place) {
    self.text = text
    self.place = place
  }
}
