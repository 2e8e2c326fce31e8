import Foundation

/// An interface as a text, which is kept with the sources: a sorted line for each library, export, declaration and conformance.
///
/// The fields of a line have tabs between them: the library, what the line is, and its parts.
extension Interface {
  /// Reads the text.
  ///
  /// - Throws: `InvalidBaseline` for a line that is none, or the error of the file.
  init(baseline file: URL) throws {
    let text = try String(contentsOf: file, encoding: .utf8)
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() where !line.isEmpty
    {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0).unescaped }
      guard fields.count >= 2, self.libraries[fields[0], default: Library()].add(fields[1], Array(fields[2...])) else {
        throw InvalidBaseline(description: "\(file.path):\(number + 1): no line of a baseline")
      }
    }
  }

  /// The text.
  var baseline: String {
    var lines: [[String]] = []
    for (name, library) in self.libraries {
      lines.append([name, "library"])
      lines += library.exports.map { [name, "export", $0] }
      for declaration in library.declarations.values.joined() {
        let isRequired = declaration.isRequired ? "required" : ""
        lines.append([
          name, "declaration", declaration.path, declaration.owner, declaration.kind, isRequired, declaration.text,
        ])
      }
      for (conformance, statements) in library.conformances {
        lines += statements.map { [name, "conformance", conformance.type, conformance.target] + $0.sorted() }
      }
    }
    return lines.map { $0.map(\.escaped).joined(separator: "\t") }.sorted().map { $0 + "\n" }.joined()
  }
}

extension Interface.Library {
  /// Adds what a line says; false if it says nothing that is known.
  fileprivate mutating func add(_ kind: String, _ fields: [String]) -> Bool {
    switch (kind, fields.count) {
    case ("library", 0): break
    case ("export", 1): self.exports.insert(fields[0])
    case ("declaration", 5):
      self.add(
        Declaration(
          path: fields[0],
          owner: fields[1],
          kind: fields[2],
          text: fields[4],
          isRequired: fields[3] == "required"
        )
      )
    case ("conformance", 2...):
      let conformance = Interface.Conformance(type: fields[0], target: fields[1])
      self.conformances[conformance, default: []].insert(Set(fields[2...]))
    default: return false
    }
    return true
  }
}

/// A line of a baseline that is none.
struct InvalidBaseline: Error, CustomStringConvertible {
  let description: String
}

extension String {
  fileprivate var escaped: String {
    self.replacing("\\", with: "\\\\").replacing("\t", with: "\\t").replacing("\n", with: "\\n")
  }

  fileprivate var unescaped: String {
    var (result, isEscape) = ("", false)
    for character in self {
      if isEscape {
        result.append(character == "t" ? "\t" : character == "n" ? "\n" : character)
        isEscape = false
      } else if character == "\\" {
        isEscape = true
      } else {
        result.append(character)
      }
    }
    return result
  }
}
