/// Lists the paths of a package.
package enum PathListing {
  /// The trees of the targets, one below the other, with columns for operations and states.
  package static func text(of targets: [TargetPaths]) -> String {
    var rows: [[String]] = []
    for target in targets {
      rows.append([target.name])
      self.rows(of: target.tree.root, indentation: "  ", into: &rows)
    }
    let widths = (0..<2).map { column in rows.filter { $0.count > 1 }.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      guard row.count > 1 else { return row[0] }
      let padded = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return (padded + row.dropFirst(2)).joined(separator: "  ")
    }
    .map { $0 + "\n" }.joined()
  }

  private static func rows(of namespace: Namespace, indentation: String, into rows: inout [[String]]) {
    for child in namespace.children {
      switch child {
      case .namespace(let child):
        rows.append([indentation + (child.name?.text ?? "")])
        self.rows(of: child, indentation: indentation + "  ", into: &rows)
      case .key(let key):
        let parameters = key.parameters.map { "\($0.name): \($0.type.text)" }.joined(separator: ", ")
        let name = indentation + key.name.text + (parameters.isEmpty ? "" : "(\(parameters))")
        rows.append([name, key.operation?.text ?? "-", key.stateText])
      }
    }
  }

  /// An array of targets, each with an array of its paths.
  package static func json(of targets: [TargetPaths]) -> String {
    guard !targets.isEmpty else { return "[]\n" }
    let list = targets.map { target in
      let paths = target.entries.map { "      \(self.json(of: $0))" }
      return """
          {
            "target": \(target.name.asJSON),
            "paths": [
        \(paths.joined(separator: ",\n"))
            ]
          }
        """
    }
    return "[\n\(list.joined(separator: ",\n"))\n]\n"
  }

  private static func json(of entry: TargetPaths.Entry) -> String {
    let names = entry.names.map(\.asJSON)
    let parameters = entry.key.parameters.map { "{\"parameter\": \($0.name.asJSON), \"type\": \($0.type.text.asJSON)}" }
    let fields = [
      "\"path\": [\((names + parameters).joined(separator: ", "))]",
      "\"operation\": \(entry.key.operation?.text.asJSON ?? "null")",
      "\"state\": \(entry.key.stateText.asJSON)",
      "\"file\": \(entry.key.name.place.file.path.asJSON)",
      "\"line\": \(entry.key.name.place.line)",
    ]
    return "{\(fields.joined(separator: ", "))}"
  }
}

extension Key {
  fileprivate var stateText: String { self.state?.text ?? self.operation.map { "\($0.text).State" } ?? "" }
}

extension String {
  fileprivate var asJSON: String {
    let escaped = self.unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case _ where scalar.value < 0x20: "\\u" + String(scalar.value, radix: 16).leftPadded(to: 4)
      default: String(scalar)
      }
    }
    return "\"\(escaped.joined())\""
  }
}
