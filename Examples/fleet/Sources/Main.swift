import Foundation

/// `fleet` tells a story of three processes and checks it; `fleet --without-fleet` is the same without what it is about.
/// `fleet measure` measures the backend with eight processes.
@main
struct Main {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "node", arguments.count == 4 {
      let values = Array(arguments)
      let program = try NodeProgram(name: values[1], connection: values[2], isJoining: values[3] == "fleet")
      return await program.serve()
    }
    // A process that has died does not end this one.
    signal(SIGPIPE, SIG_IGN)
    let server: DatabaseServer
    do { server = try DatabaseServer() } catch {
      print("\(error)")
      exit(2)
    }
    switch Array(arguments) {
    case [], ["--without-fleet"]:
      let failures = try await Story(server: server, isJoining: arguments.isEmpty).tell()
      print(failures == 0 ? "all checks hold" : "\(failures) checks do not hold")
      server.end()
      exit(failures == 0 ? 0 : 1)
    case ["measure"]:
      try await Measurements(server: server).print()
      server.end()
    default:
      print("usage: fleet [--without-fleet | measure]")
      server.end()
      exit(2)
    }
  }
}
