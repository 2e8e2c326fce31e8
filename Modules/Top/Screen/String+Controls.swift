extension String {
  /// The text without the characters that a terminal obeys instead of showing them, and without those that turn the direction of
  /// what follows. A tab and an end of a line are a space.
  ///
  /// What is shown comes from the program that is looked at, which may have it from a server or a user.
  package var withoutControls: String {
    if self.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    var text = String.UnicodeScalarView()
    for scalar in self.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control where scalar == "\t" || scalar == "\n" || scalar == "\r", .lineSeparator, .paragraphSeparator:
        text.append(" ")
      case .control: break
      // Emoji are joined by this one.
      case .format where scalar != "\u{200D}": break
      default: text.append(scalar)
      }
    }
    return String(text)
  }
}
