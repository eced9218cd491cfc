/** A link of the navigation. A test compares the links with the pages. */
interface Link {
  text: string
  link: string
}

interface Section {
  text: string
  items: Link[]
}

const page = (text: string, link: string): Link => ({ text, link })

export const NAV: Link[] = [
  page('Documents', '/docs/'),
  page('API', '/api/'),
  page('Architecture', '/ARCHITECTURE'),
  page('Changes', '/CHANGELOG'),
]

const SECTIONS: Section[] = [
  {
    text: 'Begin',
    items: [
      page('Overview', '/'),
      page('All documents', '/docs/'),
      page('Choosing a limit', '/docs/choosing'),
      page('Algorithms', '/docs/algorithms/'),
    ],
  },
  {
    text: 'In a program',
    items: [
      page('HTTP and adapters', '/docs/http'),
      page('Waiting', '/docs/waiting'),
      page('Reservations', '/docs/reservations'),
      page('When the store fails', '/docs/failures'),
      page('Observing', '/docs/observing'),
      page('Migrating', '/docs/migrating'),
      page('Errors', '/docs/errors'),
    ],
  },
  {
    text: 'Policies and service',
    items: [
      page('Policies', '/docs/policy'),
      page("Fairvisor's JSON", '/docs/fairvisor'),
      page('The service', '/docs/service'),
      page('Running it', '/deploy/'),
      page('The command', '/docs/command'),
      page('Metrics', '/docs/metrics'),
      page('Operations', '/docs/operations'),
    ],
  },
  {
    text: 'Stores',
    items: [
      page('Redis and Valkey', '/docs/stores/redis'),
      page('Clients and topologies', '/docs/stores/clients-and-topologies'),
      page('PostgreSQL', '/docs/stores/postgres'),
      page('The ring', '/docs/ring'),
      page('Regions', '/docs/regions'),
      page('Your own store', '/docs/stores/your-own'),
    ],
  },
  {
    text: 'Background',
    items: [
      page('From the documents', '/docs/from-the-documents'),
      page('Benchmarks', '/docs/benchmarks'),
      page('Glossary', '/docs/glossary'),
      page('Versions', '/docs/versions'),
      page('Security', '/SECURITY'),
    ],
  },
]

export const SIDEBAR: Record<string, Section[]> = { '/api/': [{ text: 'API', items: [page('API', '/api/')] }], '/': SECTIONS }
