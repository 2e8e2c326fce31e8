/// The Swift files that the samples of an article become: one for those that are compiled together, and one for each that
/// is apart.
struct Units {
  private var units = [Unit()]
  private var manifest = ""
  /// The unit with the statements that a sample can continue.
  private var last: Int?

  mutating func add(_ sample: Sample) throws(Mistake) {
    if sample.isManifest {
      self.manifest += "func sample\(sample.firstLine)() {\n\(sample.location(of: 0))"
      self.manifest += sample.lines.map { $0 + "\n" }.joined() + "#sourceLocation()\n}\n"
      return
    }
    if let type = sample.manifestType {
      self.manifest += "func sample\(sample.firstLine)() {\n\(sample.location(of: 0))let _: [\(type)] = ["
      self.manifest += sample.lines.map { $0 + "\n" }.joined() + "]\n#sourceLocation()\n}\n"
      return
    }
    let code = try SortedCode(sample)
    var unit = 0
    if case .apart = sample.directive {
      unit = self.units.count
      self.units.append(Unit())
    } else if case .continues = sample.directive {
      guard let last else { throw Mistake(line: sample.firstLine, text: "there are no statements to continue") }
      unit = last
    }
    self.units[unit].add(code, of: sample)
    if !code.statements.isEmpty { self.last = unit }
  }

  /// The files with their names.
  ///
  /// - Parameter prelude: What the article takes for granted.
  /// - Returns: No file without code.
  func files(prelude: String) -> [(name: String, text: String)] {
    var files = zip(1..., self.units).filter { !$1.isEmpty }
      .map { number, unit in (name: "\(number).swift", text: unit.text(prelude: prelude)) }
    if !self.manifest.isEmpty {
      files.append((name: "manifest.swift", text: "import PackageDescription\n\(self.manifest)"))
    }
    return files
  }
}
