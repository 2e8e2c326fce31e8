internal import Foundation
internal import PackagePlugin

// The folder of PathKeysCommand has a symbolic link to this file, because no plugin can import a library target.

extension SourceModuleTarget {
  /// The files that declare the paths of the target, in the order of their locations.
  var operationPathsFiles: [URL] {
    self.sourceFiles.map(\.url).filter(\.isOperationPaths).sorted { $0.path() < $1.path() }
  }
}

extension URL {
  /// Whether the file is `OperationPaths.json`, or one of several in a folder, such as `Users.OperationPaths.json`.
  fileprivate var isOperationPaths: Bool {
    self.lastPathComponent == "OperationPaths.json" || self.lastPathComponent.hasSuffix(".OperationPaths.json")
  }
}
