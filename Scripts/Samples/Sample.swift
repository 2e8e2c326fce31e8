/// A block of Swift in an article.
struct Sample {
  let article: String
  /// The number of its first line in the article.
  let firstLine: Int
  /// How far the block is indented, as in a list.
  let indentation: Int
  var directive: Directive?
  private(set) var lines: [String] = []

  init(article: String, firstLine: Int, indentation: Int) {
    self.article = article
    self.firstLine = firstLine
    self.indentation = indentation
  }

  mutating func append(_ line: Substring) {
    let isIndented = line.prefix(self.indentation).allSatisfy { $0 == " " }
    self.lines.append(String(isIndented ? line.dropFirst(self.indentation) : line))
  }

  /// Tells the compiler where the line with that index is.
  func location(of index: Int) -> String {
    "#sourceLocation(file: \"\(self.article)\", line: \(self.firstLine + index))\n"
  }

  /// Throws unless the sample is the text of a file of the package, which is compiled elsewhere.
  func compare(with text: String, _ file: String) throws(Mistake) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let shown = self.lines + [""]
    guard lines != shown else { return }
    let index =
      zip(lines, shown).enumerated().first { $0.element.0 != $0.element.1 }?.offset
      ?? min(lines.count, shown.count)
    throw Mistake(line: self.firstLine + index, text: "the line differs from line \(index + 1) of \(file)")
  }

  /// Whether the sample is a whole manifest, but for its first lines.
  var isManifest: Bool { self.lines.first?.hasPrefix("let package = Package(") ?? false }

  /// The type of the elements, if the sample is a part of a manifest.
  var manifestType: String? {
    guard let line = self.lines.first else { return nil }
    if line.hasPrefix(".package(") { return "Package.Dependency" }
    if line.hasPrefix(".target(") { return "Target" }
    if line.hasPrefix(".product(") { return "Target.Dependency" }
    return nil
  }
}
