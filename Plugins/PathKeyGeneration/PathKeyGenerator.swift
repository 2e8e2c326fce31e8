/// Generates Swift code from files of path keys, in three steps without side effects: read, model, render.
package enum PathKeyGenerator {
  /// The mistakes in the files, in their order.
  package struct Failure: Error {
    package let diagnostics: [Diagnostic]
  }

  /// Generates the code of a target.
  ///
  /// - Parameters:
  ///   - files: The target's files. The same files in the same order give the same code.
  ///   - module: The module to import for paths and the context: `OperationCore`, or a module that exports it.
  /// - Returns: The content of a Swift file.
  /// - Throws: All mistakes in the files; no code is generated then.
  package static func generate(from files: [SourceFile], importing module: String) throws(Failure) -> String {
    Renderer.render(try self.tree(of: files), files: files, importing: module)
  }

  static func tree(of files: [SourceFile]) throws(Failure) -> PathTree {
    var log = DiagnosticLog()
    var contents: [FileReader.Content] = []
    for file in files {
      guard let root = JSONReader.read(file, into: &log) else { continue }
      contents.append(FileReader.read(root, into: &log))
    }
    let tree = Merging.merge(contents, into: &log)
    guard log.diagnostics.isEmpty else { throw Failure(diagnostics: log.sorted(by: files)) }
    return tree
  }
}
