internal import Foundation
internal import PackagePlugin

/// Generates the path keys of a target from its files `OperationPaths.json`.
@main
struct PathKeysPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    guard let module = target as? any SourceModuleTarget else {
      Diagnostics.error("'\(target.name)' has no sources, so OperationPathKeys can add none; remove the plugin from it")
      return []
    }
    let inputs = module.operationPathsFiles
    guard !inputs.isEmpty else {
      Diagnostics.error(
        "the target '\(target.name)' uses OperationPathKeys and has no OperationPaths.json; add one to "
          + "\(target.directoryURL.path(percentEncoded: false)), or remove the plugin from the target"
      )
      return []
    }
    // Two files of a target cannot share a name, and users call their own extensions of the keys `PathKeys.swift`.
    let output = context.pluginWorkDirectoryURL.appending(path: "OperationPathKeys.generated.swift")
    return [
      .buildCommand(
        displayName: "Generating the path keys of \(target.name)",
        executable: try context.tool(named: "OperationPathKeysTool").url,
        arguments: [
          "generate", "--import", module.pathsModule, "--output", output.path(percentEncoded: false),
        ] + inputs.map { $0.path(percentEncoded: false) },
        inputFiles: inputs,
        outputFiles: [output]
      )
    ]
  }
}

extension SourceModuleTarget {
  /// The module to import for paths: the umbrella if the target depends on it, because it may not depend on the core.
  fileprivate var pathsModule: String {
    let modules = self.dependencies.flatMap { dependency in
      switch dependency {
      case .product(let product): product.targets.map(\.name)
      case .target(let target): [target.name]
      @unknown default: [String]()
      }
    }
    return modules.contains("Operation") && !modules.contains("OperationCore") ? "Operation" : "OperationCore"
  }
}
