/**
 * The documents: files of Debian and npm packages at pinned versions. `from` is a folder of the package, `files` are its paths there,
 * separated by spaces, without the extension `ending`; `as` is the ending that the copy gets when the package names the file otherwise.
 * A file is known as `<name of the package>/<path>`. Files that end in `.gz` are unpacked.
 *
 * Each generator of HTML is named, because loaders differ by what it writes around the text.
 */
const html = [
  {
    deb: 'python3.11-doc=3.11.2-6+deb12u9',
    generator: 'Sphinx',
    from: 'usr/share/doc/python3.11/html',
    files: `howto/argparse howto/descriptor howto/enum howto/functional howto/ipaddress howto/logging howto/regex howto/sockets
      howto/sorting howto/unicode howto/urllib2 howto/annotations faq/general faq/programming faq/design faq/library faq/gui
      tutorial/classes tutorial/controlflow tutorial/datastructures tutorial/errors tutorial/inputoutput tutorial/modules
      tutorial/venv tutorial/floatingpoint library/collections library/dataclasses library/pathlib library/csv library/heapq
      library/bisect library/tempfile library/shutil library/contextlib library/zipfile library/graphlib library/secrets using/cmdline`,
  },
  {
    deb: 'postgresql-doc-15=15.20-0+deb12u1',
    generator: 'DocBook',
    from: 'usr/share/doc/postgresql-doc-15/html',
    files: `app-createdb app-pgdump app-pgrestore app-pg-isready app-vacuumdb arrays auth-pg-hba-conf auth-password backup-dump
      backup-file checksums datatype-boolean datatype-character datatype-money datatype-numeric datatype-uuid datatype-enum
      ddl-constraints ddl-generated-columns ddl-partitioning ddl-rowsecurity explicit-locking functions-conditional
      functions-sequence functions-uuid functions-aggregate hot-standby indexes-partial indexes-multicolumn indexes-types
      libpq-pgpass limits locale monitoring-ps mvcc-intro populate queries-limit routine-vacuuming disk-full
      preventing-server-spoofing logfile-maintenance`,
  },
  {
    deb: 'libusb-1.0-doc=2:1.0.26-1',
    generator: 'Doxygen',
    from: 'usr/share/doc/libusb-1.0-doc/api-1.0',
    files: `libusb_caveats libusb_hotplug libusb_io libusb_mtasync libusb_contexts index group__libusb__asyncio group__libusb__dev
      group__libusb__desc group__libusb__hotplug group__libusb__lib group__libusb__syncio structlibusb__transfer
      structlibusb__device__descriptor`,
  },
  {
    deb: 'libeigen3-doc=3.4.0-4',
    generator: 'Doxygen',
    from: 'usr/share/doc/libeigen3-dev/html',
    files: `TopicMultiThreading TopicPitfalls TopicLazyEvaluation TopicUnalignedArrayAssert TopicPreprocessorDirectives TopicResizing
      group__TopicAliasing group__TopicPassingByValue group__TopicStorageOrders group__TutorialMatrixClass
      group__TutorialSparse group__LeastSquares group__TopicLinearAlgebraDecompositions group__TutorialReshape`,
  },
  {
    deb: 'libjsoup-java-doc=1.15.3-1',
    generator: 'Javadoc',
    from: 'usr/share/doc/libjsoup-java/api/org/jsoup',
    files: `Jsoup Connection safety/Safelist safety/Cleaner select/Selector nodes/Element nodes/Document nodes/Node
      nodes/FormElement parser/Parser parser/ParseSettings nodes/Entities`,
  },
  {
    deb: 'libcommons-io-java-doc=2.11.0-2',
    generator: 'Javadoc',
    from: 'usr/share/doc/libcommons-io-java/api/org/apache/commons/io',
    files: `FilenameUtils FileCleaningTracker FileUtils FileSystem LineIterator input/Tailer input/BOMInputStream
      monitor/FileAlterationObserver input/ReversedLinesFileReader output/DeferredFileOutputStream`,
  },
  {
    deb: 'zsh-doc=5.9-4',
    generator: 'texinfo',
    from: 'usr/share/doc/zsh-common/html',
    files: `Files Redirection Invocation Arithmetic-Evaluation Conditional-Expressions Prompt-Expansion Options
      Calendar-File-and-Date-Formats Filename-Generation Brace-Expansion History-Expansion Parameter-Expansion
      Jobs-_0026-Signals FAQ02 FAQ03 FAQ04`,
  },
  {
    deb: 'libfftw3-doc=3.3.10-1',
    generator: 'texinfo',
    from: 'usr/share/doc/libfftw3-dev/html',
    files: `Complex-One_002dDimensional-DFTs Planner-Flags Thread-safety Words-of-Wisdom_002dSaving-Plans Caveats-in-Using-Wisdom
      Installation-on-Unix SIMD-alignment-and-fftw_005fmalloc Multi_002ddimensional-Array-Format
      Dynamic-Arrays-in-C_002dThe-Wrong-Way How-Many-Threads-to-Use_003f Upgrading-from-FFTW-version-2
      The-Halfcomplex_002dformat-DFT`,
  },
  {
    deb: 'rust-doc=1.63.0+dfsg1-2',
    generator: 'mdBook',
    from: 'usr/share/doc/rust-doc/html/book',
    files: `ch01-03-hello-cargo ch02-00-guessing-game-tutorial ch03-02-data-types ch03-05-control-flow ch04-01-what-is-ownership
      ch04-02-references-and-borrowing ch05-02-example-structs ch06-02-match ch08-02-strings ch08-03-hash-maps
      ch09-02-recoverable-errors-with-result ch09-03-to-panic-or-not-to-panic ch10-03-lifetime-syntax ch11-02-running-tests
      ch14-01-release-profiles ch14-02-publishing-to-crates-io ch15-05-interior-mutability ch15-06-reference-cycles
      ch16-02-message-passing ch16-03-shared-state appendix-02-operators appendix-05-editions appendix-07-nightly-rust`,
  },
  {
    deb: 'mkdocs-doc=1.4.2+dfsg-2',
    generator: 'MkDocs',
    from: 'usr/share/doc/mkdocs/html',
    files: `getting-started user-guide/installation user-guide/configuration user-guide/deploying-your-docs user-guide/cli
      user-guide/writing-your-docs user-guide/localizing-your-theme user-guide/choosing-your-theme dev-guide/plugins
      dev-guide/translations`,
  },
  {
    deb: 'git-doc=1:2.39.5-0+deb12u3',
    generator: 'AsciiDoc',
    from: 'usr/share/doc/git-doc',
    files: `git-bisect git-stash git-worktree git-rebase git-cherry-pick git-clean git-reset git-blame gitignore gitattributes gitfaq
      git-sparse-checkout`,
  },
  {
    deb: 'sqlite3-doc=3.40.1-2+deb12u2',
    generator: 'hand-made',
    from: 'usr/share/doc/sqlite3',
    files: `faq whentouse howtocorrupt autoinc isolation limits wal lang_vacuum lang_upsert datatype3 nulls foreignkeys atomiccommit
      fileformat2 different quirks withoutrowid tempfiles backup cli gencol fts5 lang_datefunc flextypegood appfileformat`,
  },
  {
    deb: 'nodejs-doc=18.20.4+dfsg-1~deb12u3',
    generator: 'hand-made',
    from: 'usr/share/doc/nodejs/api',
    files: `child_process cluster dns esm events os path permissions readline timers url zlib corepack`,
  },
].map((entry) => ({ ...entry, format: 'html', ending: '.html' }));

const rSite = 'usr/lib/R/site-library';
const pdf = [
  { deb: 'bash-doc=5.2.15-2', from: 'usr/share/doc/bash', files: 'bash' },
  { deb: 'gnuplot-doc=5.4.4+dfsg1-2', from: 'usr/share/doc/gnuplot', files: 'gnuplot' },
  {
    deb: 'r-doc-pdf=4.2.2.20221110-2',
    from: 'usr/share/R/doc/manual',
    files: 'R-intro R-data R-FAQ R-lang',
  },
  {
    deb: 'graphviz-doc=2.42.2-7+deb12u1',
    from: 'usr/share/doc/graphviz/pdf',
    files: 'dotguide neatoguide gvpr.1 dot.1 osage.1 libguide',
    ending: '.pdf.gz',
  },
  {
    deb: 'libsuitesparse-doc=1:5.12.0+dfsg-2',
    from: 'usr/share/doc/libsuitesparse-dev',
    files: 'KLU_UserGuide AMD_UserGuide spqr_user_guide UMFPACK_QuickStart ldl_userguide Mongoose_UserGuide',
  },
  { deb: 'pari-doc=2.15.2-1', from: 'usr/share/pari/doc', files: 'tutorial parallel INSTALL' },
  {
    deb: 'debian-policy=4.6.2.0',
    from: 'usr/share/doc/debian-policy/fhs',
    files: 'fhs-3.0',
    ending: '.pdf.gz',
  },
  { deb: 'debian-faq=11.1', from: 'usr/share/doc/debian/FAQ', files: 'debian-faq.en', ending: '.pdf.gz' },
  { deb: 'r-cran-zoo=1.8-11-1', from: `${rSite}/zoo/doc`, files: 'zoo-faq zoo-quickref zoo-read zoo' },
  { deb: 'r-cran-vcd=1:1.4-11-1', from: `${rSite}/vcd/doc`, files: 'strucplot' },
  { deb: 'r-cran-tm=0.7-11-1', from: `${rSite}/tm/doc`, files: 'tm extensions' },
  { deb: 'r-cran-gdata=2.18.0.1-1', from: `${rSite}/gdata/doc`, files: 'mapLevels unknown' },
  // Three papers: two of them in two columns.
  { npm: 'pdf-parse@1.1.1', from: 'test/data', files: '01-valid 02-valid 04-valid' },
].map((entry) => ({ ending: '.pdf', ...entry, format: 'pdf' }));

const epub = [
  {
    deb: 'developers-reference=12.18',
    from: 'usr/share/developers-reference',
    files: 'developers-reference',
  },
  { deb: 'live-manual-epub=2:20151217.2', from: 'usr/share/doc/live-manual/epub', files: 'live-manual.en' },
  { deb: 'debmake-doc=1.17-7', from: 'usr/share/doc/debmake-doc', files: 'debmake-doc.en' },
  { deb: 'debian-policy=4.6.2.0', from: 'usr/share/doc/debian-policy', files: 'policy' },
].map((entry) => ({ ...entry, format: 'epub', ending: '.epub' }));

const office = [
  {
    deb: 'r-cran-officer=0.6.0+dfsg-1',
    from: `${rSite}/officer/doc_examples`,
    files: 'example landscape',
    ending: '.docx',
  },
  {
    npm: 'mammoth@1.13.0',
    from: 'test/test-data',
    files: 'comments endnotes footnotes footnote-hyperlink simple-list tables text-box strict-format single-paragraph',
    ending: '.docx',
  },
  { npm: 'carbone@3.5.6', from: 'examples', files: 'movies', ending: '.docx' },
  { npm: 'docx4js@3.3.0', from: '__tests__/files', files: 'loader', ending: '.docx' },
  {
    deb: 'writer2latex-manual=1.4-11',
    from: 'usr/share/doc/writer2latex/manual',
    files: 'user-manual',
    ending: '.odt',
  },
  { npm: 'carbone@3.5.6', from: 'examples', files: 'simple', ending: '.odt' },
  {
    deb: 'libreoffice-common=4:7.4.7-1+deb12u14',
    from: 'usr/lib/libreoffice/share/template/common',
    files: 'internal/idxexample',
    ending: '.odt',
  },
  {
    deb: 'libreoffice-common=4:7.4.7-1+deb12u14',
    from: 'usr/lib/libreoffice/share/template/common',
    files: `personal/CV personal/Resume1page officorr/Modern_business_letter_sans_serif wizard/agenda/1simple
      wizard/agenda/9colorful wizard/fax/bus-classic_f`,
    ending: '.ott',
  },
  { deb: 'r-cran-officer=0.6.0+dfsg-1', from: `${rSite}/officer/doc_examples`, files: 'example', ending: '.pptx' },
  { npm: 'pptx2json@0.0.10', from: 'fixtures', files: 'test', ending: '.pptx' },
  { npm: 'docx4js@3.3.0', from: '__tests__/files', files: 'loader', ending: '.pptx' },
].map((entry) => ({ ...entry, format: entry.ending === '.ott' ? 'odt' : entry.ending.slice(1) }));

const sheets = [
  {
    deb: 'r-cran-readxl=1.4.2-1',
    from: `${rSite}/readxl/extdata`,
    files: 'datasets deaths type-me clippy geometry',
    ending: '.xlsx',
  },
  {
    deb: 'r-cran-openxlsx=4.2.5.2-1',
    from: `${rSite}/openxlsx/extdata`,
    files: 'readTest loadExample groupTest namedRegions loadPivotTables',
    ending: '.xlsx',
  },
  { deb: 'r-cran-gdata=2.18.0.1-1', from: `${rSite}/gdata/xls`, files: 'ExampleExcelFile latin-1', ending: '.xlsx' },
  { npm: 'xlsx-populate@1.21.0', from: 'examples', files: 'styles/out ranges/out', ending: '.xlsx' },
  { npm: 'docx4js@3.3.0', from: '__tests__/files', files: 'loader', ending: '.xlsx' },
  {
    npm: 'vega-datasets@3.2.1',
    from: 'data',
    files: `airports co2-concentration disasters gapminder-health-income global-temp iowa-electricity la-riots lookup_groups
      lookup_people population_engineers_hurricanes seattle-weather sp500 stocks us-employment`,
    ending: '.csv',
  },
  {
    deb: 'r-cran-readr=2.1.4-1',
    from: `${rSite}/readr/extdata`,
    files: 'chickens mini-gapminder-africa mini-gapminder-americas mini-gapminder-asia mini-gapminder-europe mtcars',
    ending: '.csv',
  },
].map((entry) => ({ ...entry, format: entry.ending.slice(1) }));

const notebookFolder = 'usr/share/doc/python-notebook-doc/html/examples/Notebook';
const notebooks = [
  {
    deb: 'python-nbsphinx-doc=0.8.11+ds-1',
    from: 'usr/share/doc/python-nbsphinx/html',
    files: `_sources/allow-errors-per-cell _sources/allow-errors _sources/code-cells _sources/configuring-kernels _sources/custom-css
      _sources/gallery/cell-metadata _sources/gallery/cell-tag _sources/gallery/multiple-outputs _sources/hidden-cells
      _sources/subdir/a-notebook-in-a-subdir executing-notebooks never-execute orphan timeout subdir/gallery`,
  },
  {
    deb: 'python-notebook-doc=6.4.12-2.2',
    from: notebookFolder,
    files: ['Running Code', 'What is the Jupyter Notebook', 'Working With Markdown Cells', 'Importing Notebooks'],
    ending: '.ipynb.gz',
  },
  {
    deb: 'python-notebook-doc=6.4.12-2.2',
    from: notebookFolder,
    files: [
      'Distributing Jupyter Extensions as Python Packages',
      'Custom Keyboard Shortcuts',
      'Notebook Basics',
      'JavaScript Notebook Extensions',
    ],
    ending: '.ipynb.gz',
  },
  { deb: 'python-notebook-doc=6.4.12-2.2', from: notebookFolder, files: ['Connecting with the Qt Console'] },
  {
    deb: 'python-xarray-doc=2023.01.0-1.1',
    from: 'usr/share/doc/python-xarray-doc/html/examples',
    files:
      'area_weighted_temperature apply_ufunc_vectorize_1d monthly-means multidimensional-coords visualization_gallery',
    ending: '.ipynb.gz',
  },
  {
    deb: 'python-sphinx-gallery-doc=0.10.1-3',
    from: 'usr/share/doc/python-sphinx-gallery-doc/html/notebooks/auto_examples',
    files: `plot_6_function_identifier plot_4b_provide_thumbnail plot_5_unicode_everywhere plot_1_exp plot_2_seaborn
      plot_7_sys_argv no_output/plot_raise`,
  },
].map((entry) => ({ ending: '.ipynb', ...entry, format: 'ipynb' }));

const mail = [
  {
    deb: 'spamassassin=4.0.1-1~deb12u1',
    from: 'usr/share/doc/spamassassin/examples',
    files: 'sample-nonspam sample-spam',
  },
  {
    deb: 'libpython3.11-testsuite=3.11.2-6+deb12u9',
    from: 'usr/lib/python3.11/test/test_email/data',
    files: 'msg_02 msg_04 msg_06 msg_07 msg_14 msg_15 msg_16 msg_25 msg_26 msg_38 msg_43 msg_46',
  },
].map((entry) => ({ ...entry, format: 'eml', ending: '.txt', as: '.eml' }));

const markdown = [
  {
    npm: 'fastify@5.6.1',
    from: 'docs',
    files: `Guides/Database Guides/Detecting-When-Clients-Abort Guides/Getting-Started Guides/Migration-Guide-V5
      Guides/Prototype-Poisoning Guides/Recommendations Guides/Serverless Guides/Testing Reference/ContentTypeParser
      Reference/Decorators Reference/Errors Reference/Hooks Reference/LTS Reference/Logging Reference/Reply Reference/Server`,
  },
  {
    npm: 'undici@7.16.0',
    from: 'docs/docs',
    files: `api/Agent api/CacheStore api/Client api/MockAgent api/ProxyAgent api/RetryHandler api/Errors
      best-practices/proxy best-practices/mocking-request best-practices/client-certificate`,
  },
  { npm: 'pino@9.13.1', from: 'docs', files: 'help redaction transports web child-loggers lts browser' },
  { npm: 'ws@8.18.3', from: '', files: 'README' },
  { npm: 'commander@14.0.1', from: '', files: 'Readme' },
  { npm: 'execa@9.6.0', from: '', files: 'readme' },
  { npm: 'got@14.5.0', from: '', files: 'readme' },
  { npm: 'p-queue@8.1.1', from: '', files: 'readme' },
  { npm: 'chokidar@4.0.3', from: '', files: 'README' },
  { npm: 'dotenv@17.2.3', from: '', files: 'README' },
  { npm: 'semver@7.7.3', from: '', files: 'README' },
  { npm: 'minimatch@10.0.3', from: '', files: 'README' },
  { npm: 'lru-cache@11.2.2', from: '', files: 'README' },
  { npm: 'helmet@8.1.0', from: '', files: 'README' },
].map((entry) => ({ ...entry, format: 'md', ending: '.md' }));

/** Man pages as `man` reads them, and as text. */
const man = [
  {
    deb: 'openssh-client=1:9.2p1-2+deb12u10',
    from: 'usr/share/man',
    files: 'man1/ssh-keygen.1 man1/scp.1 man1/ssh-agent.1 man5/ssh_config.5',
  },
  { deb: 'rsync=3.5.0+ds1-0+deb12u1', from: 'usr/share/man', files: 'man1/rsync.1' },
  { deb: 'tar=1.34+dfsg-1.2+deb12u1', from: 'usr/share/man', files: 'man1/tar.1' },
  { deb: 'tmux=3.3a-3', from: 'usr/share/man', files: 'man1/tmux.1' },
  { deb: 'findutils=4.9.0-4', from: 'usr/share/man', files: 'man1/find.1 man1/xargs.1' },
  {
    deb: 'git-doc=1:2.39.5-0+deb12u3',
    from: 'usr/share/doc/git-doc',
    files: `git-archive git-bundle git-describe git-grep git-gc git-notes git-shortlog git-tag git-submodule git-switch
      gitcredentials git-maintenance`,
    ending: '.txt',
  },
].map((entry) => ({ ending: '.gz', ...entry, format: 'man' }));

/** Every package with the files that are read of it. */
export const corpus = [...html, ...pdf, ...epub, ...office, ...sheets, ...notebooks, ...mail, ...markdown, ...man].map(
  ({ files, ...entry }) => ({ ...entry, files: typeof files === 'string' ? files.trim().split(/\s+/) : files }),
);

/** Returns the package of an entry: its registry, name and version. */
export function packageOf({ deb, npm }) {
  const [, name, version] = deb ? /^(.+?)=(.+)$/.exec(deb) : /^(.+)@(.+)$/.exec(npm);
  return { registry: deb ? 'deb' : 'npm', name, version };
}

/** Returns each file of an entry: its place in the package, and the name it is known by. */
export function filesOf(entry) {
  const { name } = packageOf(entry);
  const { from, files, ending, as = ending.replace(/\.gz$/, '') } = entry;
  return files.map((file) => ({
    path: [from, `${file}${ending}`].filter(Boolean).join('/'),
    source: `${name}/${file}${as}`,
    format: entry.format,
  }));
}
