/// Something wrong in a file, where it is, and what to do about it.
package struct Diagnostic: Error, Hashable, Sendable {
  /// What kind of mistake it is.
  package enum Code: String, CaseIterable, Sendable {
    // Reading.
    case tooLarge, notText, unexpectedCharacter, expectedValue, expectedName, expectedColon, expectedComma
    case unclosed, mismatchedBracket, unclosedString, invalidEscape, controlCharacter, invalidNumber, tooDeep
    case trailingText, duplicateName

    // What the file says.
    case wrongKind, unknownField, invalidAccess, invalidImport, invalidName, reservedName, emptyTree
    case missingState, missingType, missingDefault, malformedType, malformedExpression, malformedOperation

    // What the files say together.
    case duplicatePath, ambiguousPath, duplicateOperation, duplicateEntry, accessDisagrees, secondDocumentation
    case hiddenType

    // What the targets of a package say together.
    case pathOfTwoTargets
  }

  package let code: Code
  package let path: String
  package let line: Int
  package let column: Int
  package let what: String
  package let remedy: String

  init(_ code: Code, at place: Place, _ what: String, remedy: String) {
    self.code = code
    self.path = place.file.path
    (self.line, self.column) = place.file.position(of: place.offset)
    self.what = what
    self.remedy = remedy
  }
}

extension Diagnostic: CustomStringConvertible {
  /// The form that compilers write, which build tools and editors read.
  package var description: String {
    "\(self.path):\(self.line):\(self.column): error: \(self.what); \(self.remedy)"
  }
}
