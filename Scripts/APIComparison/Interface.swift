import Foundation

/// The public interface of all libraries, read from a folder that has one folder for each library.
struct Interface {
  struct Library {
    var declarations: [String: [Declaration]] = [:]
    /// The paths of the declarations.
    var paths: Set<String> = []
    /// What a type or protocol conforms to or inherits from, with the constraints of each such statement. There may be
    /// several: a conformance to a protocol implies one to those that it inherits.
    var conformances: [Conformance: Set<Set<String>>] = [:]
    /// The modules that an import of the library brings along.
    var exports: Set<String> = []
    var protocols: Set<String> = []
  }

  struct Conformance: Hashable {
    let type: String
    let target: String
  }

  var libraries: [String: Library] = [:]

  init(folder: URL) throws {
    var graphs: [(library: String, graph: SymbolGraph)] = []
    for library in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
      let content = folder.appending(path: library)
      self.libraries[library] = Library()
      // Graphs of one name are in folders.
      for name in try FileManager.default.subpathsOfDirectory(atPath: content.path).sorted() {
        let file = content.appending(path: name)
        if name == "exports" {
          let names = try String(contentsOf: file, encoding: .utf8)
          self.libraries[library]?.exports = Set(names.split(separator: "\n").map(String.init))
        } else if name.hasSuffix(".symbols.json") {
          graphs.append((library, try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: file))))
        }
      }
    }
    // An extension may be of another library's type.
    var names: [String: String] = [:]
    for (_, graph) in graphs {
      for symbol in graph.symbols { names[symbol.identifier.precise] = symbol.pathComponents.joined(separator: ".") }
    }
    for (library, graph) in graphs { self.libraries[library]?.add(graph, of: library, names: names) }
  }
}

extension Interface.Library {
  /// What follows from another conformance.
  private static let implied: Set<String> = ["Swift.SendableMetatype", "Swift.Copyable", "Swift.Escapable"]

  mutating func add(_ declaration: Declaration) {
    self.declarations["\(declaration.path) \(declaration.kind)", default: []].append(declaration)
    self.paths.insert(declaration.path)
    if declaration.isProtocol { self.protocols.insert(declaration.path) }
  }

  fileprivate mutating func add(_ graph: SymbolGraph, of library: String, names: [String: String]) {
    let requirements = Set(graph.relationships.filter { $0.kind == "requirementOf" }.map(\.source))
    let provided = Set(graph.relationships.filter { $0.kind == "defaultImplementationOf" }.map(\.target))
    for symbol in graph.symbols {
      let id = symbol.identifier.precise
      let hasDefault = provided.contains(id) || symbol.declaresDefaultType
      self.add(Declaration(symbol, isRequired: requirements.contains(id) && !hasDefault))
    }
    for relationship in graph.relationships where ["conformsTo", "inheritsFrom"].contains(relationship.kind) {
      var target = relationship.targetFallback ?? names[relationship.target] ?? relationship.target
      // What a library exports of its own targets is named like the rest of it.
      if target.hasPrefix("\(library).") { target.removeFirst(library.count + 1) }
      guard !Self.implied.contains(target) else { continue }
      let conformance = Interface.Conformance(type: names[relationship.source] ?? relationship.source, target: target)
      self.conformances[conformance, default: []].insert(relationship.swiftConstraints.texts)
    }
  }
}

extension SymbolGraph.Symbol {
  /// Whether it is an associated type with a default.
  fileprivate var declaresDefaultType: Bool {
    self.kind.identifier == "swift.associatedtype"
      && (self.declarationFragments ?? []).contains { $0.spelling.contains(" = ") }
  }
}
