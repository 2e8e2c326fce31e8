internal import Foundation
internal import PackagePlugin

/// Prints the paths of a package's targets, and checks that no two targets have the same path.
@main
struct PathKeysCommand: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) async throws {
    var extractor = ArgumentExtractor(arguments)
    if extractor.extractFlag(named: "help") > 0 {
      print(Self.help)
      return
    }
    let format = extractor.extractOption(named: "format").last ?? "text"
    let checks = extractor.extractFlag(named: "check") > 0
    let names = extractor.extractOption(named: "target")
    guard extractor.remainingArguments.isEmpty, ["text", "json"].contains(format) else {
      Diagnostics.error("these arguments mean nothing: \(arguments.joined(separator: " "))\n\(Self.help)")
      return
    }

    let targets = names.isEmpty ? context.package.targets : try context.package.targets(named: names)
    var list = ["list"] + (format == "json" ? ["--json"] : []) + (checks ? ["--check"] : [])
    for target in targets {
      guard let module = target as? any SourceModuleTarget else { continue }
      let files = module.operationPathsFiles
      guard !files.isEmpty else { continue }
      list += ["--target", target.name] + files.map { $0.path(percentEncoded: false) }
    }

    let tool = Process()
    tool.executableURL = try context.tool(named: "OperationPathKeysTool").url
    tool.arguments = list
    try tool.run()
    tool.waitUntilExit()
    if tool.terminationReason != .exit || tool.terminationStatus != 0 {
      Diagnostics.error("the paths of '\(context.package.displayName)' have mistakes")
    }
  }

  private static let help = """
    Prints the paths of the package's targets, with their operations and states.

    swift package operation-paths [--format text|json] [--target NAME]… [--check]

      --format  text (a tree) or json; text by default
      --target  only this target; may be repeated
      --check   fail if two targets have the same path
    """
}
