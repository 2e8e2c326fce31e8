#if SwiftOperationPostgreSQL
  /// The hosts of a connection string, one of which is tried after the other.
  ///
  /// libpq tries the next one by itself when one refuses a connection. When one says nothing, only its blocking calls do.
  struct ConnectionHosts: Sendable {
    /// A host of a connection string.
    struct Host: Sendable, Hashable {
      /// Its name, its address, or the folder of its socket; empty for the one of libpq.
      var name = ""
      /// The address that the string names; empty for those that the name has.
      var address = ""
      var port = ""

      /// Whether its name is looked up.
      var hasAddresses: Bool {
        self.address.isEmpty && !self.name.isEmpty && !self.name.hasPrefix("/") && !self.name.hasPrefix("@")
      }

      /// What connects to it, or to one of its addresses, in place of what the connection string names.
      func options(_ address: String) -> [(String, String)] {
        [("host", self.name), ("hostaddr", address.isEmpty ? self.address : address), ("port", self.port)]
          .filter { !$0.1.isEmpty }
      }

      /// What messages call it, as those of libpq do.
      func text(_ address: String) -> String {
        let address = address.isEmpty ? self.address : address
        let name = self.name.isEmpty ? address : self.name
        let detail = address.isEmpty || address == name ? "" : " (\(address))"
        return "connection to server at \"\(name)\"\(detail), port \(self.port)"
      }
    }

    /// The hosts, in the order of the string; a single one without a name if libpq is to find them.
    let all: [Host]
    /// The values of `target_session_attrs`, one after the other; none for that of the string.
    let passes: [String]
    /// How long an address may take at most; nil if the string does not say.
    let limit: Duration?
    /// Whether the hosts and their addresses are tried in a random order.
    let isShuffled: Bool

    init(_ options: ConnectionOptions) {
      self.all = Self.hosts(options) ?? [Host()]
      // The second pass accepts what the first one does not, on all hosts.
      self.passes = options["target_session_attrs"] == "prefer-standby" ? ["standby", "any"] : [""]
      // One second counts as two, as in libpq. Zero and less are no limit.
      self.limit = Int(options["connect_timeout"]).flatMap { $0 > 0 ? .seconds(max($0, 2)) : nil }
      self.isShuffled = options["load_balance_hosts"] == "random"
    }

    /// The hosts of a string; nil if libpq has to find them, or to say what is wrong with them.
    private static func hosts(_ options: ConnectionOptions) -> [Host]? {
      // They are in the file of services.
      guard options["service"].isEmpty else { return nil }
      func list(_ keyword: String) -> [String] {
        let value = options[keyword]
        return value.isEmpty ? [] : value.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
      }
      let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
      let count = max(names.count, addresses.count)
      guard count > 0, ports.count <= 1 || ports.count == count else { return nil }
      guard names.isEmpty || names.count == count, addresses.isEmpty || addresses.count == count else { return nil }
      let hosts = (0..<count).map { index in
        let port = ports.count <= 1 ? ports.first ?? "" : ports[index]
        return Host(
          name: names.isEmpty ? "" : names[index],
          address: addresses.isEmpty ? "" : addresses[index],
          port: port.isEmpty ? "5432" : port
        )
      }
      // Nothing can take the place of one without a name: an empty option counts as none.
      let isComplete =
        hosts.allSatisfy { names.isEmpty || !$0.name.isEmpty }
        && hosts.allSatisfy { addresses.isEmpty || !$0.address.isEmpty }
      return isComplete ? hosts : nil
    }
  }
#endif
