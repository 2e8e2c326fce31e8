/// What differs between two interfaces: one line each, sorted, beginning with the name of the library.
struct Comparison {
  private(set) var breakages: [String] = []
  private(set) var additions: [String] = []

  init(from old: Interface, to new: Interface) {
    for name in old.libraries.keys where new.libraries[name] == nil {
      self.breakages.append("\(name): the library was removed")
    }
    for (name, library) in new.libraries {
      guard let before = old.libraries[name] else {
        self.additions.append("\(name): the library")
        continue
      }
      self.compareDeclarations(of: name, before, library)
      self.compareConformances(of: name, before, library)
      for module in before.exports.subtracting(library.exports) {
        self.breakages.append("\(name): removed the export of \(module)")
      }
      for module in library.exports.subtracting(before.exports) {
        self.additions.append("\(name): the export of \(module)")
      }
    }
    self.breakages.sort()
    self.additions.sort()
  }
}

extension Comparison {
  private mutating func compareDeclarations(of name: String, _ old: Interface.Library, _ new: Interface.Library) {
    for key in Set(old.declarations.keys).union(new.declarations.keys) {
      var (removed, added) = Self.difference(old.declarations[key] ?? [], new.declarations[key] ?? [])
      // What replaces a declaration without harm.
      for declaration in added {
        guard let index = removed.firstIndex(where: { declaration.replaces($0) }) else { continue }
        removed.remove(at: index)
        added.removeAll { $0.text == declaration.text }
        self.additions.append("\(name): \(declaration.path), now \(declaration.text)")
      }
      while let before = removed.popLast() {
        if let after = added.popLast() {
          self.breakages.append("\(name): changed \(before.path) from \(before.text) to \(after.text)")
        } else if before.owner.isEmpty || new.paths.contains(before.owner) || !old.paths.contains(before.owner) {
          // The members of a removed type are not listed.
          self.breakages.append("\(name): removed \(before.path), \(before.text)")
        }
      }
      for declaration in added {
        guard old.paths.contains(declaration.owner) || !new.paths.contains(declaration.owner) else { continue }
        let isInOldType = old.paths.contains(declaration.owner)
        if isInOldType, declaration.isRequired {
          self.breakages.append("\(name): added the requirement \(declaration.path), \(declaration.text)")
        } else if isInOldType, declaration.kind == "swift.enum.case" {
          self.breakages.append("\(name): added the case \(declaration.path), which a switch may not cover")
        } else {
          self.additions.append("\(name): \(declaration.path), \(declaration.text)")
        }
      }
    }
  }

  /// The declarations that are only in one of the lists, where a text may occur several times.
  private static func difference(
    _ old: [Declaration],
    _ new: [Declaration]
  ) -> (removed: [Declaration], added: [Declaration]) {
    var (removed, added): ([Declaration], [Declaration]) = ([], new)
    for declaration in old {
      if let index = added.firstIndex(where: { $0.text == declaration.text && $0.isRequired == declaration.isRequired })
      {
        added.remove(at: index)
      } else if let index = added.firstIndex(where: { $0.text == declaration.text && !$0.isRequired }) {
        added.remove(at: index)
      } else {
        removed.append(declaration)
      }
    }
    return (removed.sorted { $0.text > $1.text }, added.sorted { $0.text > $1.text })
  }

  private mutating func compareConformances(of name: String, _ old: Interface.Library, _ new: Interface.Library) {
    for (conformance, statements) in old.conformances {
      let (type, target) = (conformance.type, conformance.target)
      let others = new.conformances[conformance] ?? []
      // One with fewer constraints does as well.
      let lost = statements.filter { constraints in !others.contains { $0.isSubset(of: constraints) } }.general
      guard !lost.isEmpty, new.paths.contains(type) || !old.paths.contains(type) else { continue }
      let (before, after) = (lost.clause, others.general.clause)
      if others.isEmpty {
        self.breakages.append("\(name): removed the conformance of \(type) to \(target)\(before)")
      } else {
        self.breakages.append("\(name): changed the conformance of \(type) to \(target) from '\(before)' to '\(after)'")
      }
    }
    for (conformance, statements) in new.conformances where old.conformances[conformance] == nil {
      let (type, target) = (conformance.type, conformance.target)
      if old.protocols.contains(type) {
        self.breakages.append("\(name): added \(target) to what \(type) inherits")
      } else if old.paths.contains(type) || !new.paths.contains(type) {
        self.additions.append("\(name): the conformance of \(type) to \(target)\(statements.general.clause)")
      }
    }
  }
}

extension Set<Set<String>> {
  /// The statements that do not follow from one with fewer constraints.
  fileprivate var general: Self { self.filter { one in !self.contains { $0.isStrictSubset(of: one) } } }

  fileprivate var clause: String { self.map(\.clause).sorted().joined(separator: " or") }
}
