/// A message about a mistake in a file, with its place and a remedy.
package struct Diagnostic: Error, Hashable, Sendable {
  /// The kind of mistake.
  package enum Code: String, CaseIterable, Sendable {
    // Mistakes found while reading.
    case tooLarge, notText, unexpectedCharacter, expectedValue, expectedName, expectedColon, expectedComma
    case unclosed, mismatchedBracket, unclosedString, invalidEscape, controlCharacter, invalidNumber, tooDeep
    case trailingText, duplicateName

    // Mistakes in the contents of one file.
    case wrongKind, unknownField, invalidAccess, invalidImport, invalidName, reservedName, emptyTree
    case missingState, missingType, missingDefault, malformedType, malformedExpression, malformedOperation

    // Conflicts between the files of a target.
    case duplicatePath, ambiguousPath, duplicateOperation, duplicateEntry, accessDisagrees, secondDocumentation
    case hiddenType

    // Conflicts between the targets of a package.
    case pathOfTwoTargets
  }

  package let code: Code
  package let path: String
  package let line: Int
  package let column: Int
  package let message: String
  package let remedy: String

  init(_ code: Code, at place: Place, _ message: String, remedy: String) {
    self.code = code
    self.path = place.file.path
    (self.line, self.column) = place.file.position(of: place.offset)
    self.message = message
    self.remedy = remedy
  }
}

extension Diagnostic: CustomStringConvertible {
  /// The format of compiler messages, which build tools and editors understand.
  package var description: String {
    "\(self.path):\(self.line):\(self.column): error: \(self.message); \(self.remedy)"
  }
}
