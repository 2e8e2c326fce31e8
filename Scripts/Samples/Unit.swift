/// A Swift file that is made of samples.
struct Unit {
  private var imports = ""
  private var declarations = ""
  private var functions: [Function] = []

  /// The statements of a sample, and of those that continue it.
  private struct Function {
    let head: String
    var statements: String
    let tail: String
  }

  var isEmpty: Bool { self.imports.isEmpty && self.declarations.isEmpty && self.functions.isEmpty }

  mutating func add(_ code: SortedCode, of sample: Sample) {
    self.imports += code.imports
    self.declarations += code.declarations
    var (head, tail) = ("func sample\(sample.firstLine)() async throws {\n", "#sourceLocation()\n}\n")
    switch sample.directive {
    case .continues where !self.functions.isEmpty:
      self.functions[self.functions.count - 1].statements += code.statements
      return
    case .in(let type):
      if !code.members.isEmpty { self.declarations += "extension \(type) {\n\(code.members)}\n" }
      (head, tail) = ("extension \(type) {\n\(head)", "\(tail)}\n")
    case .on(let actor):
      head = "@\(actor) \(head)"
    default: break
    }
    guard !code.statements.isEmpty else { return }
    self.functions.append(Function(head: head, statements: code.statements, tail: tail))
  }

  /// The content of the file. It imports `Operation` where nothing imports a module of the package.
  ///
  /// - Parameter prelude: What the article takes for granted.
  /// - Returns: The text to compile.
  func text(prelude: String) -> String {
    let importsOperation = "\(self.imports)\n\(prelude)".contains(/import [A-Za-z]*Operation/)
    let functions = self.functions.map { $0.head + $0.statements + $0.tail }.joined()
    return self.imports + (importsOperation ? "" : "import Operation\n") + "import Samples\n"
      + prelude + self.declarations + functions
  }
}
