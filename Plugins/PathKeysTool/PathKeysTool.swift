internal import OperationPathKeyGeneration

/// The tool that the plugins call: it reads files, runs the generator, and writes the output.
@main
enum PathKeysTool {
  static func main() {
    do throws(ToolFailure) {
      switch try Invocation(arguments: CommandLine.arguments.dropFirst()) {
      case .generate(let job): try Self.generate(job)
      case .list(let job): try Self.list(job)
      }
    } catch {
      Streams.end(with: error.messages)
    }
  }

  private static func generate(_ job: Invocation.Generation) throws(ToolFailure) {
    let sources = try Files.sources(at: job.inputs)
    let text: String
    do throws(PathKeyGenerator.Failure) {
      text = try PathKeyGenerator.generate(from: sources, importing: job.module)
    } catch {
      throw ToolFailure(error.diagnostics)
    }
    try Files.write(text, to: job.output)
  }

  private static func list(_ job: Invocation.Listing) throws(ToolFailure) {
    var targets: [TargetPaths] = []
    var mistakes: [Diagnostic] = []
    for target in job.targets {
      let sources = try Files.sources(at: target.inputs)
      do throws(PathKeyGenerator.Failure) {
        targets.append(try TargetPaths(name: target.name, files: sources))
      } catch {
        mistakes += error.diagnostics
      }
    }
    if job.checks { mistakes += PathConflicts.diagnostics(of: targets) }
    guard mistakes.isEmpty else { throw ToolFailure(mistakes) }
    Streams.write(job.isJSON ? PathListing.json(of: targets) : PathListing.text(of: targets))
  }
}
