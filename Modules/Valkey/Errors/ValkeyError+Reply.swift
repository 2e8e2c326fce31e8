#if SwiftOperationValkey
  extension ValkeyError {
    /// The error that a server has answered with.
    ///
    /// - Parameters:
    ///   - reply: The words of the server: a code in capital letters, and a text.
    ///   - name: What messages call the server.
    init(reply: String, _ name: ServerName) {
      let (code, remedy) = Self.meaning(of: reply)
      let reason = reply.hasSuffix(".") ? String(reply.dropLast()) : reply
      self.init(code: code, message: "\(name) says: \(reason). \(remedy)")
    }

    private static func meaning(of reply: String) -> (Code, remedy: String) {
      // An error of a command in a script begins with ERR in some versions.
      let word = reply.prefix { $0.isUppercase }
      switch word {
      case "LOADING", "MASTERDOWN", "TRYAGAIN":
        return (.unavailable, "The server is starting, or waits for its primary. It is tried again by itself.")
      case "READONLY":
        return (.readOnly, "Connect to the primary server, or name all hosts: the one that is the primary is found.")
      case "MISCONF", "NOREPLICAS":
        return (
          .readOnly, "Look at the log of the server: it accepts no changes until its disk or its replicas are well."
        )
      case "NOAUTH":
        return (.noRights, "Pass the user and the password: \"redis://user:password@host:6379\".")
      case "WRONGPASS":
        return (.noRights, "Check the user and the password, with `ACL LIST` of the server.")
      case "NOPERM":
        return (.noRights, Self.rights)
      case "DENIED":
        return (.noRights, "Give the server a password, or let it listen where only its clients are.")
      case "OOM":
        return (.full, "Raise `maxmemory` of the server, or set `maxmemory-policy volatile-lru`.")
      case "BUSY":
        return (.busy, "Another script runs for too long: look for it in `SLOWLOG GET`, or end it by `SCRIPT KILL`.")
      case "CLUSTERDOWN", "MOVED", "ASK", "CROSSSLOT":
        return (.unsupported, Self.cluster)
      case "NOPROTO":
        return (.unsupported, Self.version)
      case "WRONGTYPE":
        return (.failed, "Another program uses the same keys: pass another `prefix`.")
      default: break
      }
      if ["run this command", "access at least", "publish to the channel"].contains(where: {
        reply.contains("can't \($0)")
      }) {
        return (.noRights, Self.rights)
      }
      if reply.contains("WRONGTYPE") { return (.failed, "Another program uses the same keys: pass another `prefix`.") }
      if reply.contains("max number of clients") {
        return (.busy, "Raise `maxclients` of the server. It is tried again by itself.")
      }
      if reply.contains("DB index") {
        return (
          .invalidConnection, "Name another database in the connection string, or raise `databases` of the server."
        )
      }
      if reply.contains("unknown command") || reply.contains("Unknown Redis command") {
        return (.unsupported, Self.version)
      }
      return (.failed, "Look at the log of the server.")
    }

    private static let rights = """
      Give the user its rights: `ACL SETUSER name +@connection +eval +evalsha +script|load +info +subscribe +publish \
      +@read +@write +time ~swift_operation:* &swift_operation:*`, with the prefix of the fleet.
      """

    private static let cluster = """
      In cluster mode, a script does not see the keys of other nodes, and invalidations could not be in one order. Run \
      the fleet on a server with `cluster-enabled no`.
      """

    private static let version = "Run Valkey, or Redis 7.0 or newer."

    /// The error for what a server has said about itself when it was connected to; nil if it serves a fleet.
    init?(hello: Reply, _ name: ServerName) {
      switch hello["mode"]?.text {
      case "cluster": self.init(code: .unsupported, message: "\(name) is in cluster mode. \(Self.cluster)")
      case "sentinel":
        self.init(
          code: .unsupported,
          message: "\(name) is a sentinel. Name the servers themselves: the one that is the primary is found."
        )
      default:
        let role = hello["role"]?.text
        if let role, role != "master" {
          self.init(reply: "READONLY The server is a \(role)", name)
          return
        }
        let version = hello["version"]?.text ?? ""
        guard let major = version.split(separator: ".").first.flatMap({ Int($0) }), major < 7 else { return nil }
        self.init(code: .unsupported, message: "\(name) has the version \(version). \(Self.version)")
      }
    }
  }
#endif
